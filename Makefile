# Everything tickbound needs to be built, shown and tested. `make` lists the targets.
.DEFAULT_GOAL := help
.PHONY: test-mpi advisories dist install outside wheels ci oldest tools compare coverage kernels-report reo-report spaces-report guards-report schedules-report schema scores reliability readme-blocks help setup build demo test test-long fuzz fuzz-guided mutants bench bench-report doc fmt clean-deps

SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# Read when a recipe runs, after `setup`: the versions of the lock file, and nothing else or the
# feature that builds Z3 from source.
FLAGS = --locked $$(cat .deps/z3/cargo-flags)
TARGET = $${CARGO_TARGET_DIR:-target}

# Seconds for `make fuzz`, and how it is compiled.
FUZZ_SECONDS ?= 600
PROFILE ?= --release

# Seconds and memory for each engine and problem in `make compare`.
COMPARE_SECONDS ?= 60
COMPARE_MEMORY ?= 12G

# Size and configurations of each kernel for `make kernels-report`, where the page is written, and the platform that has what
# is not measured.
KERNELS_FOLDER ?= docs/results
KERNELS_LIKE ?=
KERNELS_SIZE ?= small
KERNELS_SAMPLE ?= 100

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-20s %s\n' "$$name" "$$text"; done

setup: ## find or fetch Z3 and check the tools (at once, the second time)
	@bash scripts/setup-z3.sh

build: setup ## build the optimised program
	cargo build --release $(FLAGS)

# Where `make install` puts bin/tickbound, lib/tickbound, and manual pages and completions in share.
PREFIX ?= $(HOME)/.local

install: build ## install the program into PREFIX (~/.local), for this machine; `make dist` makes one for others
	install -D -m 755 $(TARGET)/release/tickbound $(DESTDIR)$(PREFIX)/bin/tickbound
	@if [ -e .deps/z3/lib/libz3.so ]; then \
		install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/tickbound "$$(readlink -f .deps/z3/lib/libz3.so)"; \
	fi
	@bash scripts/man-pages.sh $(TARGET)/release/tickbound $(DESTDIR)$(PREFIX)/share
	@echo "$(PREFIX)/bin/tickbound: $$($(DESTDIR)$(PREFIX)/bin/tickbound --version)"

# x86_64 or aarch64; this machine's if empty.
PROCESSOR ?=

dist: ## make a tarball and a Python wheel that need the C library alone, and try them: target/dist (an hour the first time)
	@bash scripts/dist.sh $(PROCESSOR)

outside: setup ## build and run crates outside the workspace that use the optimiser alone
	@bash scripts/try-outside.sh

demo: setup ## build, then show what tickbound does
	@cargo build --release $(FLAGS)
	@$(TARGET)/release/tickbound demo

test: tools ## all checks: format, lints, licenses, tests, doc tests, documentation; installs SPIN, solvers, PoCL, Open MPI, libclang and a browser
	cargo fmt --all --check
	@deny=$$(bash scripts/setup-cargo-deny.sh); if [ -n "$$deny" ]; then "$$deny" --locked check bans licenses sources; fi
	cargo clippy --workspace --all-targets $(FLAGS) -- -D warnings
	cargo test --workspace $(FLAGS)
	@bash scripts/cases.sh
	@bash scripts/test-mpi.sh --locked
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps $(FLAGS)

test-mpi: tools ## products by 1, 2 and 4 processes over MPI, also part of `make test`
	@bash scripts/test-mpi.sh --locked

ci: test oldest outside ## what CI runs: all checks, the oldest Rust, crates outside the workspace, a minute of fuzzing, the README
	$(MAKE) fuzz FUZZ_SECONDS=60 PROFILE=
	python3 scripts/readme-blocks.py --check --program $(TARGET)/debug/tickbound

tools: setup
	@bash scripts/setup-spin.sh
	@bash scripts/setup-solvers.sh
	@bash scripts/setup-opencl.sh
	@bash scripts/setup-libclang.sh
	@bash scripts/setup-mpi.sh
	@bash scripts/setup-browser.sh
	@bash scripts/setup-python.sh cvc5 cvc5 >/dev/null
	@bash scripts/setup-python.sh kernel-tuner kernel_tuner >/dev/null
	@bash scripts/setup-python.sh duckdb duckdb >/dev/null

oldest: setup ## check with the oldest Rust that Cargo.toml names, where rustup has it
	@bash scripts/check-oldest-rust.sh $(FLAGS)

advisories: ## look for known faults of the dependencies (needs the network)
	@deny=$$(bash scripts/setup-cargo-deny.sh) && "$$deny" --locked check advisories

# Packages for `make wheels`, such as PACKAGES=cvc5==1.4.2; all lists at their newest versions if it is empty.
PACKAGES ?=

wheels: ## renew versions and sums of the Python wheels that set-up fetches: scripts/wheels (needs the network)
	python3 scripts/wheels.py $(PACKAGES)

test-long: tools ## also the tests that are too slow for every day (marked #[ignore])
	cargo test --release --workspace --lib --bins --tests $(FLAGS) -- --include-ignored

fuzz: setup ## fuzz all readers for FUZZ_SECONDS (600)
	TICKBOUND_FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test $(PROFILE) $(FLAGS) --test tests -- --nocapture fuzz::

fuzz-guided: setup ## fuzz the readers guided by coverage for FUZZ_SECONDS (600); needs a nightly Rust
	@bash scripts/fuzz-guided.sh $(FUZZ_SECONDS)

# Parts of `make mutants`: bounds, caches, reachable; all if it is empty. SHARD=0/8 is the first of eight shares.
PARTS ?=

mutants: setup ## change bounds, caches and the reachable product one place at a time, and tell what no test sees (hours; it goes on)
	@bash scripts/mutants.sh $(PARTS)

readme-blocks: build tools ## run the commands of README.md and docs/, and put in what they print (BLOCKS=--check compares)
	PYTHON=$$(bash scripts/setup-python.sh cp-sat ortools) python3 scripts/readme-blocks.py $(BLOCKS) --program $(TARGET)/release/tickbound

bench: setup ## run the benchmarks
	cargo bench $(FLAGS)

bench-report: setup ## measure in one run and write docs/results/encodings.md
	cargo bench $(FLAGS) --bench report -- --write

spaces-report: setup ## all strategies, CP-SAT and Kernel Tuner over growing spaces: docs/results/spaces.*
	PYTHON=$$(bash scripts/setup-python.sh cp-sat ortools) \
		KERNEL_TUNER=$$(PYTHON=$$KERNEL_TUNER bash scripts/setup-python.sh kernel-tuner kernel_tuner) cargo bench $(FLAGS) --bench spaces -- --write

schedules-report: setup ## both ends of open schedules, beside CP-SAT: docs/results/schedules.md
	@# The bench runs in the folder of its crate.
	python=$$(bash scripts/setup-python.sh cp-sat ortools); export PYTHON=$${python:+$$(realpath -s "$$python")}; \
		cargo bench $(FLAGS) -p tickbound-schedules --bench ends > target/schedules.md
	@cargo build --release $(FLAGS)
	python3 scripts/schedules-space.py $(TARGET)/release/tickbound crates/schedules/benches/space.json >> target/schedules.md
	@printf '\nWritten on %s, on %s cores of%s.\n' "$$(date -u +%F)" "$$(nproc)" "$$(sed -n 's/^model name.*://p' /proc/cpuinfo | head -n 1)" >> target/schedules.md
	@mv target/schedules.md docs/results/schedules.md

schema: setup ## write docs/reference/answer.schema.json, which is generated from the types
	WRITE_SCHEMA=1 cargo test $(FLAGS) -p tickbound --lib schema

# Bad inputs for each reader, stops for each long command, and kills, of `make reliability`.
INPUTS ?= 2000
STOPS ?= 200
KILLS ?= 50

reliability: setup ## bad inputs, stops at random moments, kills: docs/reliability.md (about two hours)
	@cargo build --release $(FLAGS)
	python3 scripts/reliability.py $(TARGET)/release/tickbound docs/reliability.md --date $$(date +%F) \
		--inputs $(INPUTS) --stops $(STOPS) --kills $(KILLS)

compare: setup ## all engines beside the paper's tables 1 and 3, COMPARE_SECONDS (60) each: docs/results/comparison.*
	@cargo build --release $(FLAGS)
	PYTHON=$$(bash scripts/setup-python.sh cp-sat ortools) $(TARGET)/release/tickbound compare --paper docs/results --timeout $(COMPARE_SECONDS) --memory $(COMPARE_MEMORY)

reo-report: setup ## the products of connectors measured on this machine: docs/results/reo.md and its plot, docs/results/streams.md
	@cargo build --release $(FLAGS)
	@bash scripts/reo-report.sh $(TARGET)/release/tickbound docs/results

# Folders with kernels and their problem files, for `make coverage`.
KERNELS ?= examples/kernels

coverage: setup ## how much of the KERNELS folders is read and tuned: docs/results/coverage.md
	@cargo build --release $(FLAGS)
	@python3 scripts/coverage.py $(TARGET)/release/tickbound docs/results/coverage.md --date "$$(date -I)" $(KERNELS)

guards-report: setup ## launches whose groups differ, of up to 2^30 items: docs/results/guards.md
	@cargo build --release $(FLAGS)
	@python3 scripts/guards-report.py $(TARGET)/release/tickbound docs/results/guards.md --date "$$(date -I)"

# A folder with published measurements, for `make scores`.
DATA ?= ../data

scores: setup ## the profile resources beside published measurements in the folder DATA: docs/results/predictions.md
	@cargo build --release $(FLAGS)
	@python3 scripts/scores.py $(TARGET)/release/tickbound $(DATA) docs/results/predictions.md --date "$$(date -I)"

kernels-report: setup ## the example kernels on the first OpenCL device, beside the model: docs/results/kernels.md
	@cargo build --release $(FLAGS)
	@python3 scripts/kernels-report.py $(TARGET)/release/tickbound $(KERNELS_FOLDER) --size $(KERNELS_SIZE) --sample $(KERNELS_SAMPLE) --like "$(KERNELS_LIKE)" --date "$$(date -I)"

doc: setup ## build the documentation
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps $(FLAGS)

fmt: ## format the code
	cargo fmt --all

clean-deps: ## forget the Z3 that setup chose
	rm -rf .deps

# Everything a user or a developer of tickbound needs. All other tasks: `cargo xtask`.
.DEFAULT_GOAL := help
.PHONY: help setup build install lint check test ci bench tools

SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# Read when a recipe runs, after `setup`: the versions of the lock file, and nothing else or the
# feature that builds Z3 from source.
FLAGS = --locked $$(cat .deps/z3/cargo-flags)
# `--workspace` below even where one package is meant: one package alone has other features, with which Cargo
# would compile most crates again.
TARGET = $${CARGO_TARGET_DIR:-target}
# Where `make install` puts bin/tickbound, lib/tickbound, and manual pages and completions in share.
PREFIX ?= $(HOME)/.local

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-16s %s\n' "$$name" "$$text"; done

setup: ## find or fetch Z3 and check the tools (at once, the second time)
	@bash scripts/setup-z3.sh

build: setup ## build the optimised program
	cargo build --release -p tickbound -p tickbound-capture $(FLAGS)

install: build ## install the program into PREFIX (~/.local), for this machine
	install -D -m 755 $(TARGET)/release/tickbound $(DESTDIR)$(PREFIX)/bin/tickbound
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/tickbound $(TARGET)/release/libtickbound_capture.so
	@if [ -e .deps/z3/lib/libz3.so ]; then \
		install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/tickbound "$$(readlink -f .deps/z3/lib/libz3.so)"; \
	fi
	@bash scripts/man-pages.sh $(TARGET)/release/tickbound $(DESTDIR)$(PREFIX)/share
	@echo "$(PREFIX)/bin/tickbound: $$($(DESTDIR)$(PREFIX)/bin/tickbound --version)"

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(FLAGS) -- -D warnings

check: lint ## format, lints and unit tests, without other programs (under a minute, once built)
	cargo test --workspace --lib $(FLAGS) -q
	cargo test --workspace $(FLAGS) --test layout -q

test: setup ## all tests; installs SPIN, solvers, PoCL, Open MPI, libclang and a browser where they are missing
	@# Fetching waits for the network, and lints need none of it.
	@$(MAKE) --no-print-directory tools & tools=$$!; failed=0; $(MAKE) --no-print-directory lint || failed=1; \
	wait $$tools; exit $$failed
	@deny=$$(bash scripts/setup-cargo-deny.sh); if [ -n "$$deny" ]; then "$$deny" --locked check bans licenses sources; fi
	cargo test --workspace $(FLAGS)
	@bash scripts/cases.sh
	@bash scripts/test-mpi.sh --locked
	@# Examples bring the features of tests along, with which clippy has checked the dependencies.
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --lib --bin xtask --examples $(FLAGS)

ci: test ## what CI runs: all tests, the oldest Rust, crates outside the workspace, a minute of fuzzing, the README
	@# Fuzzing has one thread; one other is left to build with on two cores.
	@TICKBOUND_FUZZ_SECONDS=60 cargo test --workspace $(FLAGS) --test tests -- --nocapture fuzz:: & fuzzing=$$!; \
	export CARGO_BUILD_JOBS=$$(($$(nproc) > 1 ? $$(nproc) - 1 : 1)); \
	{ bash scripts/check-oldest-rust.sh $(FLAGS) && bash scripts/try-outside.sh; } || { kill $$fuzzing; exit 1; }; \
	wait $$fuzzing
	python3 scripts/readme-blocks.py --check --program $(TARGET)/debug/tickbound

bench: setup ## run the benchmarks
	cargo bench $(FLAGS)

# Wheels are fetched while VeriPB is built; Debian's packages one after another, as they share a lock.
WHEELS = "cvc5 cvc5" "kernel-tuner kernel_tuner" "optuna optuna" "duckdb duckdb" "pyopencl pyopencl" \
	"sass nvidia-cuda-nvrtc nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm"
tools: setup
	@for wheels in $(WHEELS); do bash scripts/setup-python.sh $$wheels >/dev/null & done; \
	for part in spin solvers opencl libclang mpi browser; do bash scripts/setup-$$part.sh || exit 1; done; wait

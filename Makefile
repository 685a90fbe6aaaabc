# Everything tickbound needs to be built, shown and tested. `make` lists the targets.
.DEFAULT_GOAL := help
.PHONY: compare kernels-report reo-report schema help setup build demo test test-long fuzz bench bench-report doc fmt clean-deps

SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# Read when a recipe runs, after `setup`: empty, or the feature that builds Z3 from source.
FLAGS = $$(cat .deps/z3/cargo-flags)
TARGET = $${CARGO_TARGET_DIR:-target}

# Seconds for `make fuzz`.
FUZZ_SECONDS ?= 600

# Seconds and memory for each engine and problem in `make compare`.
COMPARE_SECONDS ?= 60
COMPARE_MEMORY ?= 12G

# Size and configurations of each kernel for `make kernels-report`.
KERNELS_SIZE ?= small
KERNELS_SAMPLE ?= 100

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-20s %s\n' "$$name" "$$text"; done

setup: ## find or fetch Z3 and check the tools (at once, the second time)
	@bash scripts/setup-z3.sh

build: setup ## build the optimised program
	cargo build --release $(FLAGS)

demo: setup ## build, then show what tickbound does
	@cargo build --release $(FLAGS)
	@$(TARGET)/release/tickbound demo

test: setup ## all checks: format, lints, tests, doc tests, documentation; installs SPIN, PoCL and libclang
	@bash scripts/setup-spin.sh
	@bash scripts/setup-opencl.sh
	@bash scripts/setup-libclang.sh
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(FLAGS) -- -D warnings
	cargo test --workspace $(FLAGS)
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps $(FLAGS)
	TICKBOUND_FUZZ_SECONDS=60 cargo test $(FLAGS) --test fuzz

test-long: setup ## also the tests that are too slow for every day (marked #[ignore])
	@bash scripts/setup-spin.sh
	@bash scripts/setup-opencl.sh
	@bash scripts/setup-libclang.sh
	cargo test --release --workspace --lib --bins --tests $(FLAGS) -- --include-ignored

fuzz: setup ## fuzz the parsers for FUZZ_SECONDS (600)
	TICKBOUND_FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test --release $(FLAGS) --test fuzz -- --nocapture

bench: setup ## run the benchmarks
	cargo bench $(FLAGS)

bench-report: setup ## measure in one run and write docs/results/encodings.md and the README's table
	cargo bench $(FLAGS) --bench report -- --write

schema: setup ## write schema/answer.schema.json, which is generated from the types
	WRITE_SCHEMA=1 cargo test $(FLAGS) -p tickbound --lib answer::schema

compare: setup ## all engines beside the paper's tables 1 and 3, COMPARE_SECONDS (60) each: docs/results/comparison.*
	@cargo build --release $(FLAGS)
	PYTHON=$$(bash scripts/setup-cp-sat.sh) $(TARGET)/release/tickbound compare --paper docs/results --timeout $(COMPARE_SECONDS) --memory $(COMPARE_MEMORY)

reo-report: setup ## the products of connectors measured on this machine: docs/results/reo.md and its plot
	@cargo build --release $(FLAGS)
	@bash scripts/reo-report.sh $(TARGET)/release/tickbound docs/results

kernels-report: setup ## the example kernels on the first OpenCL device, beside the model: docs/results/kernels.md
	@cargo build --release $(FLAGS)
	@python3 scripts/kernels-report.py $(TARGET)/release/tickbound docs/results --size $(KERNELS_SIZE) --sample $(KERNELS_SAMPLE) --date "$$(date -I)"

doc: setup ## build the documentation
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps $(FLAGS)

fmt: ## format the code
	cargo fmt --all

clean-deps: ## forget the Z3 that setup chose
	rm -rf .deps

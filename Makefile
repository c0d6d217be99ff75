# Two commands matter: `make demo` shows what Cordon does, `make test` proves it.

SWIFT ?= swift
SOURCES := Package.swift Sources Tests Examples Snippets Benchmarks Fuzz
FORMAT := $(SWIFT) format
# The same switches everywhere, so that nothing is built twice.
BUILD := $(SWIFT) build --explicit-target-dependency-import-check error

# Warnings are errors here, and nowhere else.
export CORDON_STRICT := 1

.PHONY: demo test adopter deep bench fuzz crash docs lint format check prerequisites build clean

# Builds what it runs, and no tests.
demo: prerequisites
	$(BUILD) --product cordon
	$(BUILD) --product FieldNotes
	$(BUILD) --product ShiftBoard
	@.build/debug/cordon demo

# Left alone, all tests begin at once, and one that waits for a moment waits for all the others.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= $(shell getconf _NPROCESSORS_ONLN)

test: build
	Scripts/test.sh together
	Scripts/test.sh alone

# A package outside this one, which imports `Cordon` alone and is as strict as this one is.
adopter: prerequisites
	env -u CORDON_STRICT $(SWIFT) run --package-path Tests/Adopter Adopter

# The long work, for a night: every test at full length, mutants of the policy rules, kills, fuzzing and benchmarks.
deep: build
	Scripts/proof.py 'every test at full length' env CORDON_DEEP=1 Scripts/test.sh together
	Scripts/proof.py 'tests with processes at full length' env CORDON_DEEP=1 Scripts/test.sh alone
	Scripts/proof.py 'SQLite on sealed files' Scripts/sqlite-suite.sh
	Scripts/proof.py 'mutants of the rules' env CORDON_MUTATION=1 Tests/CordonPolicyTests/mutation.sh
	$(MAKE) crash fuzz bench

build: prerequisites
	$(BUILD) --build-tests

prerequisites:
	@Scripts/prerequisites.sh

bench: prerequisites
	@Scripts/bench.sh

fuzz: prerequisites
	@Scripts/fuzz.sh

# Kills what writes to the vault, a hundred thousand times (KILLS says how often).
crash: prerequisites
	CORDON_BENCHMARKS=1 $(SWIFT) build -c release --product VaultCrash
	Scripts/proof.py 'kills of a writer' "$$(CORDON_BENCHMARKS=1 $(SWIFT) build -c release --show-bin-path)/VaultCrash" $${KILLS:-100000}

docs: prerequisites
	@Scripts/docs.sh

lint:
	@Scripts/lint.sh

format:
	$(FORMAT) --in-place --recursive --configuration .swift-format $(wildcard $(SOURCES))

check: lint test demo

clean:
	rm -rf .build

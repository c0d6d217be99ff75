# Two commands matter: `make demo` shows what Cordon does, `make test` proves it.

SWIFT ?= swift
SOURCES := Package.swift Sources Tests Examples Snippets Benchmarks/Package.swift Benchmarks/Sources Fuzz/Package.swift Fuzz/Sources
FORMAT := $(SWIFT) format
# The same switches everywhere, so that nothing is built twice.
BUILD := $(SWIFT) build --explicit-target-dependency-import-check error

.PHONY: demo test deep bench fuzz crash docs lint format check prerequisites build clean

# Builds what it runs, and no tests.
demo: prerequisites
	$(BUILD) --product cordon
	$(BUILD) --product FieldNotes
	$(BUILD) --product ShiftBoard
	@.build/debug/cordon demo

# Tests that start many processes, or have deadlines of seconds, have the machine to themselves, one after another.
PROCESSES := EndToEndTests|RealProviderTests|ClientTests|IntuneCDTests|CordonBrokerTests.(SocketTests|ActivationTests|FollowingTests|AccountSourceTests|ExecRaceTests|RunningWorkTests)|AuthorityRoutesTests

# Left alone, all tests begin at once, and one that waits for a moment waits for all the others.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= $(shell getconf _NPROCESSORS_ONLN)

test: build
	Scripts/test.sh --skip '$(PROCESSES)'
	Scripts/test.sh --no-parallel --filter '$(PROCESSES)'

# The long work: every test at full length, then fuzzing and benchmarks.
deep: build
	CORDON_DEEP=1 Scripts/test.sh --skip '$(PROCESSES)'
	Scripts/test.sh --no-parallel --filter '$(PROCESSES)'
	Scripts/sqlite-suite.sh
	$(MAKE) fuzz bench

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
	$(SWIFT) build -c release --package-path Benchmarks --product VaultCrash
	"$$($(SWIFT) build -c release --package-path Benchmarks --show-bin-path)/VaultCrash" $${KILLS:-100000}

docs: prerequisites
	@Scripts/docs.sh

lint:
	@Scripts/lint.sh

format:
	$(FORMAT) --in-place --recursive --configuration .swift-format $(wildcard $(SOURCES))

check: lint test demo

clean:
	rm -rf .build

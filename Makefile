# Two commands matter: `make demo` shows what Cordon does, `make test` proves it.

SWIFT ?= swift
SOURCES := Package.swift Sources Tests Examples Snippets Benchmarks/Package.swift Benchmarks/Sources Fuzz/Package.swift Fuzz/Sources
FORMAT := $(SWIFT) format

.PHONY: demo test deep bench fuzz crash docs lint format check prerequisites build clean

demo: build
	@.build/debug/cordon demo

# Tests that start many processes, or have deadlines of seconds, have the machine to themselves, one after another.
PROCESSES := EndToEndTests|RealProviderTests|ClientTests|IntuneCDTests|CordonBrokerTests.(SocketTests|ActivationTests|FollowingTests|AccountSourceTests|ExecRaceTests|RunningWorkTests)|AuthorityRoutesTests

# Left alone, all tests begin at once, and one that waits for a moment waits for all the others.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= $(shell getconf _NPROCESSORS_ONLN)

test: build
	Scripts/test.sh --skip '$(PROCESSES)'
	Scripts/test.sh --no-parallel --filter '$(PROCESSES)'

# The long work, for a night: every test at full length, mutants of the policy rules, kills, fuzzing and benchmarks.
deep: build
	CORDON_DEEP=1 Scripts/test.sh --skip '$(PROCESSES)'
	CORDON_DEEP=1 Scripts/test.sh --no-parallel --filter '$(PROCESSES)'
	Scripts/sqlite-suite.sh
	CORDON_MUTATION=1 Tests/CordonPolicyTests/mutation.sh
	$(MAKE) crash fuzz bench

build: prerequisites
	$(SWIFT) build --build-tests --explicit-target-dependency-import-check error

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

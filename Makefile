# Two commands matter: `make demo` shows what Cordon does, `make test` proves it.

SWIFT ?= swift
SOURCES := Package.swift Sources Tests Examples Snippets Benchmarks Fuzz
FORMAT := $(SWIFT) format
# The same switches everywhere, so that nothing is built twice.
BUILD := $(SWIFT) build --explicit-target-dependency-import-check error

# Warnings are errors here, and nowhere else.
export CORDON_STRICT := 1

.PHONY: pictures demo programs test adopter apple deep proofs-built bench fuzz crash docs lint format check prerequisites build clean

demo: programs
	@.build/programs/cordon demo

# From nothing, whole modules without debugging data take a third less time than modules that are compiled file by file.
WHOLE_MODULES := --disable-index-store -debug-info-format none -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2

# The service and the sample apps, in .build/programs. Where the tests are built, so are the programs, unless WHOLE=1 asks for whole modules.
WHOLE ?= $(if $(wildcard .build/debug/cordonPackageTests.xctest),,1)
PROGRAMS := $(if $(WHOLE),--scratch-path .build/whole $(WHOLE_MODULES))

programs: prerequisites
	$(BUILD) $(PROGRAMS) --product cordon
	$(BUILD) $(PROGRAMS) --product FieldNotes
	$(BUILD) $(PROGRAMS) --product ShiftBoard
	@ln -sfn "$$($(BUILD) $(PROGRAMS) --show-bin-path)" .build/programs

test: build
	Scripts/test.sh together
	Scripts/test.sh alone

# A package outside this one, which imports `Cordon` alone and is as strict as this one is.
adopter: prerequisites
	env -u CORDON_STRICT $(SWIFT) run --package-path Tests/Adopter $(WHOLE_MODULES) Adopter

# The adapters of Apple platforms, on stand-ins that behave; `make lint` type-checks them.
apple: build
	Scripts/apple.sh
	Scripts/apple.sh planted
	Scripts/apple.sh run

# The long work, for some nights: what Scripts/proofs.txt lists, then fuzzing and benchmarks. PROOF_SECONDS ends those that can after that time.
deep: build proofs-built
	Scripts/proof.py run $(if $(PROOF_SECONDS),--seconds $(PROOF_SECONDS)) --seed $${CORDON_SEED:-1}
	$(MAKE) fuzz bench

# The programs of the long work that are not tests.
proofs-built: prerequisites
	CORDON_BENCHMARKS=1 $(SWIFT) build -c release --product VaultCrash
	CORDON_BENCHMARKS=1 $(SWIFT) build -c release --product VaultProofs
	CORDON_BENCHMARKS=1 $(SWIFT) build -c release --product ServiceBenchmark
	CORDON_BENCHMARKS=1 $(SWIFT) build -c release --product BrokerBenchmark

build: prerequisites
	$(BUILD) --build-tests

prerequisites:
	@Scripts/prerequisites.sh

bench: prerequisites
	@Scripts/bench.sh

fuzz: prerequisites
	@Scripts/fuzz.sh

# Kills what writes to the vault, a hundred thousand times (KILLS says how often).
crash: proofs-built
	Scripts/proof.py run --seed $${CORDON_SEED:-1} 'kills of a writer'

docs: prerequisites
	@Scripts/docs.sh

lint:
	@Scripts/lint.sh

format:
	$(FORMAT) --in-place --recursive --configuration .swift-format $(wildcard $(SOURCES))

check: lint test demo

clean:
	rm -rf .build

# Pictures of the console's main pages, from a real run in a browser, into .build/pictures, named as those in docs/pictures.
pictures: prerequisites
	$(BUILD) --build-tests
	mkdir -p .build/pictures
	CORDON_PICTURES=$(CURDIR)/.build/pictures $(SWIFT) test --skip-build --filter 'CordonConsoleTests.BrowserTests'

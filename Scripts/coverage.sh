#!/usr/bin/env bash
# How much of the parts that must not fail the tests reach (R20): regions of vault, policy rules and ciphers. Ends with 1 where a part
# is below its floor, which is what was reached when it was written here, and never falls. What no test reaches stands in
# .build/coverage/missed.txt, a line for each region.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A floors=([CordonVault]=89 [CordonPolicy]=91 [CordonIdentity]=85 [CordonBase]=80)
tests=(CordonBaseTests CordonIdentityTests CordonPolicyTests CordonVaultTests)
CORDON_TESTS=$(IFS=,; echo "${tests[*]}")
export CORDON_TESTS
folder=.build/coverage
# The tests alone: snippets are built with `--build-tests` whatever the package leaves out, and need what it left out.
swift build --product cordonPackageTests --enable-code-coverage --scratch-path "$folder"
# As Scripts/test.sh has it: else all tests begin at once, and what waits for a moment waits for all the others.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$(getconf _NPROCESSORS_ONLN)}
program=$(swift build --show-bin-path --scratch-path "$folder")/cordonPackageTests.xctest
report=$folder/report.json
rm -rf "$folder/profiles"
LLVM_PROFILE_FILE=$PWD/$folder/profiles/%p.profraw "$program" --testing-library swift-testing
# Those of the compiler: profiles have a version. A child that a test has killed leaves half a profile.
tools=$(dirname "$(readlink -f "$(command -v swift)")")
"$tools/llvm-profdata" merge -sparse -failure-mode=all -o "$folder/merged.profdata" "$folder"/profiles/*.profraw
"$tools/llvm-cov" export -instr-profile "$folder/merged.profdata" "$program" >"$report"
python3 - "$report" "$folder/missed.txt" "$(for part in "${!floors[@]}"; do printf '%s=%s ' "$part" "${floors[$part]}"; done)" <<'PYTHON'
import collections
import json
import sys

report = json.load(open(sys.argv[1]))["data"][0]
floors = dict(pair.split("=") for pair in sys.argv[3].split())


def placed(name: str) -> list[str] | None:
    """The part that a file belongs to and its name below the sources; tables of texts are made from catalogues, and decide nothing."""
    below = name.split("/Sources/")
    if len(below) < 2 or below[1].endswith("/Texts/Texts.swift"):
        return None
    part = below[1].split("/")[0]
    return [part, below[1]] if part in floors else None


counts = collections.defaultdict(lambda: [0, 0])
files = []
for file in report["files"]:
    if not (place := placed(file["filename"])):
        continue
    part, name = place
    regions = file["summary"]["regions"]
    counts[part][0] += regions["covered"]
    counts[part][1] += regions["count"]
    files.append((regions["count"] - regions["covered"], name))
for missed, name in sorted(files, reverse=True)[:15]:
    print(f"{missed} regions that no test reaches: {name}")
# A generic function is there once for each of its types.
reached = collections.Counter()
for function in report["functions"]:
    for line, column, *end, times, file, _, kind in function["regions"]:
        if kind == 0 and (place := placed(function["filenames"][file])):
            reached[place[1], line, column] += times
with open(sys.argv[2], "w") as missed:
    missed.writelines(f"{name}:{line}:{column}\n" for (name, line, column), times in sorted(reached.items()) if not times)
told, low = [], []
for part, (covered, count) in sorted(counts.items()):
    share = 100 * covered / count
    told.append(f"{part} {share:.1f} % of {count}")
    if share < float(floors[part]):
        low.append(part)
print("proof: regions reached: " + ", ".join(told))
if low:
    print("coverage: below the floor: " + ", ".join(low))
sys.exit(1 if low or len(counts) < len(floors) else 0)
PYTHON

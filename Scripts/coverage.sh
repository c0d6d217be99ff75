#!/usr/bin/env bash
# How much of the parts that must not fail the tests reach (R20): regions of vault, policy rules and ciphers. Ends with 1 where a part is
# below its floor, which is what was reached when it was written here, and never falls.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A floors=([CordonVault]=86 [CordonPolicy]=89 [CordonIdentity]=85 [CordonBase]=80)
tests=(CordonBaseTests CordonIdentityTests CordonPolicyTests CordonVaultTests)
CORDON_TESTS=$(IFS=,; echo "${tests[*]}")
export CORDON_TESTS
folder=.build/coverage
# The tests alone: snippets are built with `--build-tests` whatever the package leaves out, and need what it left out.
swift build --product cordonPackageTests --enable-code-coverage --scratch-path "$folder"
swift test --skip-build --enable-code-coverage --scratch-path "$folder"
report=$(swift test --show-codecov-path --scratch-path "$folder")
python3 - "$report" "$(for part in "${!floors[@]}"; do printf '%s=%s ' "$part" "${floors[$part]}"; done)" <<'PYTHON'
import collections
import json
import sys

floors = dict(pair.split("=") for pair in sys.argv[2].split())
counts = collections.defaultdict(lambda: [0, 0])
files = []
for file in json.load(open(sys.argv[1]))["data"][0]["files"]:
    parts = file["filename"].split("/Sources/")
    if len(parts) < 2 or (part := parts[1].split("/")[0]) not in floors:
        continue
    regions = file["summary"]["regions"]
    counts[part][0] += regions["covered"]
    counts[part][1] += regions["count"]
    files.append((regions["count"] - regions["covered"], parts[1]))
for missed, name in sorted(files, reverse=True)[:15]:
    print(f"{missed} regions that no test reaches: {name}")
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

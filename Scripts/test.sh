#!/usr/bin/env bash
# Runs tests that are built already, and names at the end what failed: a long output is often kept by its end alone.
set -uo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
swift test --skip-build "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    printf '\nfailed (exit code %s):\n' "$status"
    grep -E '^✘|^↳' "$log" | head -60
    # A test that never ended is the one that began and is not heard of again.
    comm -23 <(sed -nE '/^◇ Test case /d; s/^◇ Test (.*) started\.$/\1/p' "$log" | sort -u) \
        <(sed -nE 's/^[✔✘➜━] Test (.*) (passed|failed|skipped).*/\1/p' "$log" | sed -E 's/ with [0-9]+ test cases?$//' | sort -u) |
        sed 's/^/not ended: /' | head -20
fi
exit "$status"

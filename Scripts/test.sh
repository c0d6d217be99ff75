#!/usr/bin/env bash
# Runs tests that are built already, and names at the end what failed: a long output is often kept by its end alone.
# `test.sh together` runs all suites but those that need the machine to themselves; `test.sh alone` runs these, one after another.
set -uo pipefail
cd "$(dirname "$0")/.."

alone=$(Scripts/suites.py machineAlone) || exit 1
case "${1:-}" in
together) set -- --skip "$alone" "${@:2}" ;;
alone) set -- --no-parallel --filter "$alone" "${@:2}" ;;
*)
    echo "usage: Scripts/test.sh together|alone [ARGUMENT…]" >&2
    exit 2
    ;;
esac

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

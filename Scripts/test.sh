#!/usr/bin/env bash
# Runs tests that are built already, and names at the end what failed: a long output is often kept by its end alone.
# `test.sh together` runs all suites but those that start many processes. `test.sh alone` runs these, one after another, and beside them,
# in a process of their own, those that wait for programs nobody here wrote.
set -uo pipefail
cd "$(dirname "$0")/.."

# Left alone, all tests begin at once: one that waits for a moment waits for all the others, and together they open files by the thousand.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$(getconf _NPROCESSORS_ONLN)}

alone=$(Scripts/suites.py machineAlone) && foreign=$(Scripts/suites.py foreignPrograms) || exit 1
program=$(swift build --show-bin-path)/cordonPackageTests.xctest
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# tests LOG ARGUMENT…: prints what the tests say, without colours, and keeps it.
tests() {
    "$program" --testing-library swift-testing "${@:2}" 2>&1 | sed -u $'s/\e\\[[0-9;]*m//g' | tee "$logs/$1"
    return "${PIPESTATUS[0]}"
}

# failures LOG STATUS: what failed, and what never ended: a test that began and is not heard of again.
failures() {
    [ "$2" -ne 0 ] || return 0
    printf '\nfailed (exit code %s):\n' "$2"
    grep -E '^✘|^↳' "$logs/$1" | head -60
    comm -23 <(sed -nE '/^◇ Test case /d; s/^◇ Test (.*) started\.$/\1/p' "$logs/$1" | sort -u) \
        <(sed -nE 's/^[✔✘➜━] Test (.*) (passed|failed|skipped).*/\1/p' "$logs/$1" | sed -E 's/ with [0-9]+ test cases?$//' | sort -u) |
        sed 's/^/not ended: /' | head -20
}

status=0
foreigners=0
case "${1:-}" in
together) tests all --skip "$alone|$foreign" "${@:2}" || status=$? ;;
alone)
    tests foreign --no-parallel --filter "$foreign" "${@:2}" &
    beside=$!
    tests all --no-parallel --filter "$alone" "${@:2}" || status=$?
    wait "$beside" || foreigners=$?
    ;;
*)
    echo "usage: Scripts/test.sh together|alone [ARGUMENT…]" >&2
    exit 2
    ;;
esac
failures all "$status"
failures foreign "$foreigners"
exit $((status > foreigners ? status : foreigners))

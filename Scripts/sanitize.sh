#!/usr/bin/env bash
# Test suites under a sanitizer: `Scripts/sanitize.sh thread|address [TESTS…]`, the tests as targets of the package. Builds them and what they need
# into a folder of their own; any report fails.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-}
case $kind in
thread) tests=(CordonBaseTests CordonIdentityTests CordonSignInTests CordonVaultTests CordonTests) ;;
address) tests=(CordonBaseTests CordonSignaturesTests CordonProtocolTests CordonVaultTests CordonVaultSQLiteTests) ;;
*)
    echo 'usage: Scripts/sanitize.sh thread|address [TESTS…]' >&2
    exit 2
    ;;
esac
shift
[ $# -eq 0 ] || tests=("$@")
CORDON_TESTS=$(IFS=,; echo "${tests[*]}")
export CORDON_TESTS
[ "$kind" != thread ] || export CORDON_SANITIZED=1
folder=.build/$kind
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The tests alone: snippets are built with `--build-tests` whatever the package leaves out, and need what it left out.
swift build --product cordonPackageTests --sanitize "$kind" --scratch-path "$folder"
# Children die on purpose, by signals; addresses are chosen as the thread sanitizer's shadow wants them.
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 report_signal_unsafe=0 ${TSAN_OPTIONS:-}"
export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}"
# These look for locked pages and read all of the process's memory; a sanitizer locks none, and has terabytes of its own.
skipped='MemoryProtectionTests|GuardedMemoryTests|a scan of the live process'
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$(getconf _NPROCESSORS_ONLN)}
status=0
setarch --addr-no-randomize swift test --skip-build --sanitize "$kind" --scratch-path "$folder" --filter "^($(IFS='|'; echo "${tests[*]}"))\\." --skip "$skipped" 2>&1 | tee "$log" || status=$?
reports=$(grep -cE 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer' "$log" || true)
ran=$(grep -oE 'Test run with [0-9]+ tests? in [0-9]+ suites?' "$log" | tail -1)
echo "proof: ${ran:-no test} under the $kind sanitizer (${tests[*]}), $reports reports"
[ "$status" -eq 0 ] && [ "$reports" -eq 0 ] && [ -n "$ran" ]

#!/usr/bin/env bash
# Every benchmark, in release builds; figures are ratios against a limit that is measured in the same run.
set -euo pipefail
cd "$(dirname "$0")/.."

export CORDON_BENCHMARKS=1
benchmarks=(Revocation Chunk Vault Policy Identity Start Broker Service AppTools Scan)

echo 'bench: building programs and benchmarks (release)' >&2
for product in cordon FieldNotes PlainDispatch "${benchmarks[@]/%/Benchmark}"; do swift build -c release --product "$product"; done
built=$(swift build -c release --show-bin-path)

missed=()
for benchmark in "${benchmarks[@]}"; do
    printf '\n%s\n' "$benchmark"
    "$built/${benchmark}Benchmark" "$built" || missed+=("$benchmark")
done
if ((${#missed[@]} > 0)); then
    echo "bench: a goal was missed, or it could not be measured: ${missed[*]}" >&2
    exit 1
fi

#!/usr/bin/env bash
# Every benchmark, in release builds; figures are ratios against a limit that is measured in the same run.
set -euo pipefail
cd "$(dirname "$0")/.."

export CORDON_BENCHMARKS=1
benchmarks=(Revocation Chunk Vault Policy Identity Start Broker Service AppTools)

echo 'bench: building programs and benchmarks (release)' >&2
for product in cordon FieldNotes PlainDispatch "${benchmarks[@]/%/Benchmark}"; do swift build -c release --product "$product"; done
built=$(swift build -c release --show-bin-path)

for benchmark in "${benchmarks[@]}"; do
    printf '\n%s\n' "$benchmark"
    "$built/${benchmark}Benchmark" "$built"
done

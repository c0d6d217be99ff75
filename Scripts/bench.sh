#!/usr/bin/env bash
# Every benchmark, in release builds; figures are ratios against a limit that is measured in the same run.
set -euo pipefail
cd "$(dirname "$0")/.."

echo 'bench: building the programs (release)' >&2
swift build -c release --product cordon
swift build -c release --product FieldNotes
programs=$(swift build -c release --show-bin-path)

echo 'bench: building the benchmarks (release)' >&2
swift build -c release --package-path Benchmarks
built=$(swift build -c release --package-path Benchmarks --show-bin-path)

for benchmark in Revocation Chunk Vault Policy Identity Start Broker Service AppTools; do
    printf '\n%s\n' "$benchmark"
    "$built/${benchmark}Benchmark" "$programs"
done

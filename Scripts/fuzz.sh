#!/usr/bin/env bash
# Each fuzzer for SECONDS_EACH seconds (default 60) with the vectors as seeds; any crash or hang fails.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${SECONDS_EACH:-60}
export CORDON_FUZZ=1
fuzzers=(PolicyFuzz ProtocolFuzz VaultFuzz BrokerFuzz AppToolsFuzz ServiceFuzz ScanFuzz)
# A build folder of their own: everything in it is instrumented.
building=(swift build -c release --sanitize fuzzer --scratch-path .build/fuzz)
for fuzzer in "${fuzzers[@]}"; do "${building[@]}" --product "$fuzzer"; done
built=$("${building[@]}" --show-bin-path)
for fuzzer in "${fuzzers[@]}"; do
    corpus=$(mktemp -d)
    echo "fuzz: $fuzzer for $seconds s" >&2
    seeds=()
    case $fuzzer in
        AppToolsFuzz) seeds=(Tests/Vectors/app-tools) ;;
        PolicyFuzz) seeds=(Tests/Vectors/policy) ;;
        ServiceFuzz) seeds=(Tests/Vectors/bodies) ;;
        VaultFuzz) seeds=(Tests/Vectors/vault) ;;
    esac
    # A crash would otherwise linger in the backtracer.
    SWIFT_BACKTRACE=enable=no Scripts/proof.py "fuzzing, $fuzzer" timeout $((seconds + 120)) "$built/$fuzzer" "$corpus" "${seeds[@]}" \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1
    rm -rf "$corpus"
done
echo 'fuzz: no crash, no hang'

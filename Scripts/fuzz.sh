#!/usr/bin/env bash
# Fuzzers, all or those that are named, each for SECONDS_EACH seconds (default 60) with the vectors as seeds; any crash or hang fails, and the
# others go on. What was found to be new stays in .build/corpus for the next run. CORDON_SEED gives libFuzzer's seed; ADDRESS=1 builds with the
# address sanitizer besides.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${SECONDS_EACH:-60}
seed=${CORDON_SEED:-1}
export CORDON_FUZZ=1
fuzzers=(PolicyFuzz ProtocolFuzz VaultFuzz DatabaseFuzz BrokerFuzz AppToolsFuzz ServiceFuzz ScanFuzz)
[ $# -eq 0 ] || fuzzers=("$@")
# Build folders of their own: everything in them is instrumented.
building=(swift build -c release --sanitize fuzzer --scratch-path .build/fuzz)
kind=fuzzing
if [ -n "${ADDRESS:-}" ]; then
    building=(swift build -c release --sanitize fuzzer --sanitize address --scratch-path .build/fuzz-address)
    kind='fuzzing with the address sanitizer'
    export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}"
fi
for fuzzer in "${fuzzers[@]}"; do "${building[@]}" --product "$fuzzer"; done
built=$("${building[@]}" --show-bin-path)
failed=()
for fuzzer in "${fuzzers[@]}"; do
    corpus=.build/corpus/$fuzzer
    mkdir -p "$corpus"
    echo "fuzz: $fuzzer for $seconds s" >&2
    case $fuzzer in
        DatabaseFuzz) seeds=(Tests/Vectors/damaged-databases) ;;
        AppToolsFuzz) seeds=(Tests/Vectors/app-tools) ;;
        PolicyFuzz) seeds=(Tests/Vectors/policy) ;;
        ServiceFuzz) seeds=(Tests/Vectors/bodies) ;;
        VaultFuzz) seeds=(Tests/Vectors/vault) ;;
        *) seeds=() ;;
    esac
    # A crash would otherwise linger in the backtracer.
    SWIFT_BACKTRACE=enable=no Scripts/proof.py record --seed "$seed" --limit $((seconds + 120)) "$kind, $fuzzer" \
        "$built/$fuzzer" "$corpus" "${seeds[@]}" -seed="$seed" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -verbosity=0 -print_final_stats=1 -artifact_prefix=.build/corpus/ || failed+=("$fuzzer")
done
if ((${#failed[@]} > 0)); then
    echo "fuzz: failed: ${failed[*]}; what did it is in .build/corpus" >&2
    exit 1
fi
echo 'fuzz: no crash, no hang'

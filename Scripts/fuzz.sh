#!/usr/bin/env bash
# Each fuzzer for SECONDS_EACH seconds (default 60) with the vectors as seeds; any crash or hang fails.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${SECONDS_EACH:-60}
swift build -c release --package-path Fuzz --sanitize fuzzer
built=$(swift build -c release --package-path Fuzz --sanitize fuzzer --show-bin-path)
for fuzzer in PolicyFuzz ProtocolFuzz VaultFuzz BrokerFuzz AppToolsFuzz ServiceFuzz; do
    corpus=$(mktemp -d)
    echo "fuzz: $fuzzer for $seconds s" >&2
    seeds=()
    case $fuzzer in
        PolicyFuzz) seeds=(Tests/Vectors/policy) ;;
        ServiceFuzz) seeds=(Tests/Vectors/bodies) ;;
        VaultFuzz) seeds=(Tests/Vectors/vault) ;;
    esac
    # A crash would otherwise linger in the backtracer.
    SWIFT_BACKTRACE=enable=no timeout $((seconds + 120)) "$built/$fuzzer" "$corpus" "${seeds[@]}" \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -verbosity=0
    rm -rf "$corpus"
done
echo 'fuzz: no crash, no hang'

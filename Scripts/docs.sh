#!/usr/bin/env bash
# DocC archives of the libraries, warnings as errors, into .build-docs/archives.
set -euo pipefail
cd "$(dirname "$0")/.."

out=.build-docs/archives
mkdir -p "$out"
for module in Cordon CordonIdentity CordonPolicy CordonSignIn; do
    symbols=$(mktemp -d)
    echo "docs: $module" >&2
    # A folder of its own, because these flags would make the usual build start over.
    swift build --scratch-path .build-docs --target "$module" -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc "$symbols"
    mkdir "$symbols/own"
    mv "$symbols/$module".symbols.json "$symbols/$module"@*.symbols.json "$symbols/own/" 2>/dev/null || true
    docc convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$symbols/own" \
        --fallback-bundle-identifier "cordon.$module" --output-path "$out/$module.doccarchive" --warnings-as-errors
    rm -rf "$symbols"
done
echo "docs: in $out"

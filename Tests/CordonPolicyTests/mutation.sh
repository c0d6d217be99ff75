#!/bin/sh
# Mutation run: inverts one rule or ignores one setting at a time and expects the table to notice. Of each mutant that the
# list marks so, one of the twelve promises must be broken of the strictest baseline; the others are out of their reach.
#
# Deep only: every mutant is a build. Works on a copy; the tree is never changed.
#   CORDON_MUTATION=1 Tests/CordonPolicyTests/mutation.sh [FIRST [LAST]]
# A wrapper for the builds can be given in CORDON_BUILD.
set -eu
export CORDON_CELLS="${CORDON_CELLS:-60000}"
[ "${CORDON_MUTATION:-}" = 1 ] || { echo "set CORDON_MUTATION=1 to run"; exit 0; }
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/Sources" "$work/Tests"
cp -r "$root/Sources/CordonBase" "$root/Sources/CordonIdentity" "$root/Sources/CordonPolicy" "$work/Sources/"
rm -rf "$work/Sources/CordonPolicy/CordonPolicy.docc" "$work/Sources/CordonIdentity/CordonIdentity.docc"
mkdir -p "$work/Tests/CordonPolicyTests"
cp -r "$root/Tests/CordonPolicyTests/Table" "$work/Tests/CordonPolicyTests/"
cp -r "$root/Tests/CordonTestSupport" "$work/Sources/"
cp -r "$root/Tests/Vectors" "$work/Tests/Vectors"
cat > "$work/Package.swift" <<'PACKAGE'
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "mutants",
    targets: [
        .target(name: "CordonBase", exclude: ["Texts/Texts.xcstrings"]),
        .target(name: "CordonIdentity", dependencies: ["CordonBase"]),
        .target(name: "CordonPolicy", dependencies: ["CordonBase", "CordonIdentity"]),
        .target(name: "CordonTestSupport", dependencies: ["CordonBase"]),
        .testTarget(name: "CordonPolicyTests", dependencies: ["CordonPolicy", "CordonIdentity", "CordonTestSupport"]),
    ])
PACKAGE
list="$root/Tests/CordonPolicyTests/mutants.txt"
total=$(grep -c '^[^#]' "$list")
first=${1:-1}
last=${2:-$total}
killed=0
tried=0
number=0
grep '^[^#]' "$list" > "$work/list"
missed=0
while IFS='|' read -r file from to mark; do
    number=$((number + 1))
    [ "$number" -ge "$first" ] && [ "$number" -le "$last" ] || continue
    path="$work/Sources/CordonPolicy/$file"
    cp "$path" "$work/kept"
    python3 - "$path" "$from" "$to" <<'PYTHON'
import sys
path, old, new = sys.argv[1:]
text = open(path).read()
assert old in text, "no such text: " + old
open(path, "w").write(text.replace(old, new, 1))
PYTHON
    tried=$((tried + 1))
    if ! ${CORDON_BUILD:-} swift build --package-path "$work" --build-tests > "$work/log" 2>&1 < /dev/null; then
        echo "$number does not build: $file: $from -> $to"
        tried=$((tried - 1))
    else
        if ${CORDON_BUILD:-} swift test --package-path "$work" --skip-build --skip PromiseTests > "$work/log" 2>&1 < /dev/null; then
            echo "$number SURVIVED: $file: $from -> $to"
        else
            killed=$((killed + 1))
            echo "$number killed: $file: $from -> $to"
        fi
        found=promise
        if ${CORDON_BUILD:-} swift test --package-path "$work" --skip-build --filter PromiseTests > "$work/log" 2>&1 < /dev/null; then
            found=
        fi
        if [ "$found" != "$mark" ]; then
            missed=$((missed + 1))
            echo "$number promises: ${found:-none} notices, the list says ${mark:-none}"
        fi
    fi
    cp "$work/kept" "$path"
done < "$work/list"
echo "$killed of $tried mutants killed"
echo "$missed unlike the list says of the promises"
[ "$killed" -eq "$tried" ] && [ "$missed" -eq 0 ]

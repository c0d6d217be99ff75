#!/usr/bin/env bash
# Formatting and the rules of the house that a machine can check. Any finding fails.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
fail() {
    printf 'lint: %s\n' "$1"
    printf '%s\n' "$2" | sed 's/^/  /'
    status=1
}

roots=()
for root in Package.swift Sources Tests Examples Snippets Benchmarks Fuzz; do
    [ -e "$root" ] && roots+=("$root")
done
swift format lint --strict --parallel --recursive --configuration .swift-format "${roots[@]}" || status=1

written=$(git grep -lE '^// Written by Scripts/' -- '*.swift')
long=$(git ls-files '*.swift' '*.c' '*.h' '*.py' '*.sh' | grep -vxF "$written" | xargs wc -l | awk '$2 != "total" && $1 > 500 {print $2 ": " $1 " lines"}')
[ -z "$long" ] || fail 'files over 500 lines' "$long"

traps=$(git grep -nE '\btry!|\bas!|\bfatalError\(' -- 'Sources/*.swift' 'Examples/*.swift' || true)
[ -z "$traps" ] || fail 'traps in sources' "$traps"

# A promise that the compiler does not check needs its proof in the line above.
unproven=$(git ls-files 'Sources/*.swift' 'Examples/*.swift' | xargs awk '
    FNR == 1 {previous = ""}
    /@unchecked Sendable|nonisolated\(unsafe\)/ && previous !~ /\/\// {print FILENAME ":" FNR ": " $0}
    {previous = $0}')
[ -z "$unproven" ] || fail 'unchecked promises without a line that proves them' "$unproven"

# Providers differ by what they announce and by what an administrator sets, never by their name (SI-213).
vendors=$(git grep -nwiE 'keycloak|okta|entra|azure|microsoft|microsoftonline|google|auth0|authentik|authelia|zitadel|cognito|onelogin|canaille|glewlwyd' \
    -- Sources/CordonSignIn Sources/CordonBroker Sources/CordonHTTPClient Sources/CordonServiceHTTP/Tokens Sources/CordonServiceHTTP/Signals \
    | grep -vE '^[^:]+:[0-9]+: *//|public var administrationResource = ' || true)
[ -z "$vendors" ] || fail 'a vendor by name where sign-in is decided' "$vendors"

# Tests draw their numbers from a seed that a failure names (R22).
unseeded=$(git ls-files 'Tests/*.swift' | grep -v '^Tests/CordonTestSupport/' | xargs perl -0777 -ne '
    while (/(SystemRandomNumberGenerator|\.(?:shuffled|randomElement)\(\)|\.random\(in:((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\))/g) {
        my ($found, $inside) = ($1, $2 // ""); next if $inside =~ /using:/;
        my $line = 1 + (substr($_, 0, $-[0]) =~ tr/\n//); print "$ARGV:$line: $found\n" }')
[ -z "$unseeded" ] || fail 'random numbers of tests without a seed' "$unseeded"

open=$(git grep -nE '\b(TODO|FIXME|XXX|HACK)\b' -- Sources Examples Tests ':!Tests/Vectors' || true)
[ -z "$open" ] || fail 'left open in the code' "$open"

names=$(git ls-files | grep -E '(Utils|Common|Helpers|Manager)[^/]*\.swift$' || true)
[ -z "$names" ] || fail 'files named after nothing' "$names"

committed=$(git ls-files | grep -E '(^|/)(\.build|Package\.resolved)|^[^/]*\.h$|\.swift(module|doc|sourceinfo)$' || true)
[ -z "$committed" ] || fail 'build products in the tree' "$committed"

# The README shows what the snippet compiles, line by line.
drift=$(sed -n '/snippet.show/,/snippet.hide/p' Snippets/ProtectAnApp.swift | sed '1d;$d;s/^    //' | while IFS= read -r line; do
    grep -qxF -- "$line" README.md || printf '%s\n' "$line"
done)
[ -z "$drift" ] || fail 'lines of the snippet that the README does not have' "$drift"

short=$(make -n deep | grep 'Scripts/test.sh' | grep -v 'CORDON_DEEP=1' || true)
[ -z "$short" ] || fail 'tests that make deep runs at their short length' "$short"

# Every requirement that is said to be met names a test that exists.
rows=$(python3 Scripts/requirements.py) || fail 'rows of docs/requirements' "$rows"

# Every mutant changes what the sources have, and names suites that there are.
mutants=$(python3 Scripts/mutation.py check) || fail 'lists of mutants' "$mutants"

# Every name of the migration pages has a row, and every row names what the sources have.
names=$(python3 Scripts/migration.py) || fail 'the migration pages' "$names"

# Every heading of the documents that integrators work by has a row, and every row shows what it says.
headings=$(python3 Scripts/headings.py) || fail 'headings of the documents' "$headings"

# The table of texts is the one that its source makes.
stale=$(python3 Scripts/texts.py --check 2>&1) || fail 'the table of texts' "$stale"

# What the structure is held to, and no dependency that nothing imports.
house=$(python3 Scripts/house.py) || fail 'the house' "$house"

# Adapters of Apple platforms, against stand-ins; where nothing is built yet the type-check waits for the build.
if [ -e .build/debug/Modules/CordonScreens.swiftmodule ]; then
    apple=$(Scripts/apple.sh && Scripts/apple.sh planted) || fail 'the Apple adapters' "$apple"
fi

[ $status -eq 0 ] && echo 'lint: nothing found'
exit $status

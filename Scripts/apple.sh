#!/usr/bin/env bash
# Type-checks what only Apple platforms have, against stand-ins for the system's modules (Tests/Apple/Stubs), with the project's strict
# settings. Nothing of it is in the package graph: to every dependency `canImport(UIKit)` stays false.
#
#   Scripts/apple.sh             type-check; looks for uses above the floor, #selector and toll-free casts besides
#   Scripts/apple.sh planted     shows that each planted mistake is found
#   Scripts/apple.sh run         runs the adapters against the stand-ins, which behave
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(uname)" = Linux ] || { echo 'apple: on a Mac the compiler itself says more: build the products'; exit 0; }
build=${APPLE_BUILD:-.build/apple}
modules=.build/debug/Modules
[ -e "$modules/CordonScreens.swiftmodule" ] || { echo 'apple: build first: swift build'; exit 1; }
mkdir -p "$build/modules" "$build/objects"

# SwiftPM names the package after its folder.
package=$(basename "$PWD" | tr -c 'A-Za-z0-9\n' _)
maps=()
for map in .build/debug/*.build/module.modulemap .build/checkouts/*/Sources/*/include/module.modulemap Sources/*/include/module.modulemap; do
    [ -e "$map" ] && maps+=(-Xcc "-fmodule-map-file=$map")
done
strict=(-swift-version 6 -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility
    -warnings-as-errors -package-name "$package" -I "$build/modules" -I "$modules" "${maps[@]}" -Onone -module-cache-path "$build/cache")
stubs=(UniformTypeIdentifiers AppIntents Intents UIKit Security CryptoKit LocalAuthentication AuthenticationServices BackgroundTasks DeviceCheck
    UserNotifications QuickLook WebKit FileProvider SwiftUI)
adapters=(CordonApple CordonUIKit CordonSwiftUI)

sources() { # of a stub or an adapter
    if [ -d "$1" ]; then find "$1" -name '*.swift' | sort; else echo "$1.swift"; fi
}
# Makes a module's interface where its sources, or anything below, are newer; prints nothing else than what the compiler finds.
module() { # name root flags...
    local name=$1 root=$2 out=$build/modules/$1.swiftmodule file newest
    shift 2
    local files=()
    while read -r file; do files+=("$file"); done < <(sources "$root")
    newest=$(ls -t "${files[@]}" Scripts/apple.sh "${below[@]}" | head -1)
    below+=("$out")
    [ -e "$out" ] && [ "$out" -nt "$newest" ] && return 0
    # Code is made, because regions and moves are looked at only then.
    swiftc "${strict[@]}" "$@" -parse-as-library -module-name "$name" -emit-module -emit-module-path "$out" \
        -wmo -c "${files[@]}" -o "$build/objects/$name.o" 2>&1 || return 1
    touch "$out"
}
below=("$modules/CordonScreens.swiftmodule")

make_stubs() {
    for stub in "${stubs[@]}"; do module "$stub" "Tests/Apple/Stubs/$stub" -suppress-warnings -no-warnings-as-errors || return 1; done
}
make_adapters() {
    for adapter in "${adapters[@]}"; do module "$adapter" "Sources/$adapter" || return 1; done
}

check() {
    python3 Scripts/apple.py "${adapters[@]/#/Sources/}" Examples/FieldNotesApp || return 1
    make_stubs || return 1
    make_adapters || return 1
    if [ -d Examples/FieldNotesApp ]; then
        swiftc "${strict[@]}" -parse-as-library -module-name FieldNotesApp -wmo -emit-sil -o /dev/null $(sources Examples/FieldNotesApp) || return 1
    fi
    echo "apple: $(cat $(for one in "${adapters[@]}"; do sources "Sources/$one"; done) | wc -l) lines of adapters type-checked against stand-ins"
}

# Each file is one mistake that an adapter could have: it must be refused, for the reason that its first line names.
planted() {
    make_stubs && make_adapters || return 1
    local missed=0 count=0 file said want
    for file in Tests/Apple/Planted/*.swift; do
        count=$((count + 1))
        want=$(sed -n '1s,^// refused: ,,p' "$file")
        if said=$(python3 Scripts/apple.py "$file" 2>&1 && swiftc "${strict[@]}" -parse-as-library -module-name Planted -emit-sil -o /dev/null "$file" 2>&1); then
            echo "apple: not found: $file"
            missed=1
        elif ! grep -qF -- "$want" <<<"$said"; then
            printf 'apple: found for another reason: %s\n%s\n' "$file" "$said"
            missed=1
        fi
    done
    [ $count -ge 20 ] || { echo "apple: only $count planted mistakes"; missed=1; }
    [ $missed -eq 0 ] && echo "apple: $count planted mistakes found"
    return $missed
}

# The adapters against stand-ins that behave: the built package, the stand-ins and the adapters in one program.
run() {
    make_stubs && make_adapters || return 1
    local own=${APPLE_OBJECTS:-} objects=() one file toolchain
    toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
    for one in Cordon CordonBase CordonIdentity CordonPolicy CordonProtocol CordonScreens CordonSignIn CordonSignatures CordonVault; do
        if [ -n "$own" ]; then
            objects+=("$own/$one.o")
            continue
        fi
        # By the sources that there are: a build folder keeps what was made of former ones.
        while read -r file; do
            objects+=(".build/debug/$one.build/$(basename "$file").o")
        done < <(find "Sources/$one" -name '*.swift' | sort)
    done
    while read -r one; do objects+=("$one"); done < <(
        find .build/debug/{CordonAEADShim,Crypto,CryptoExtras,CryptoBoringWrapper,CCryptoBoringSSL,CCryptoBoringSSLShims,CXKCP,CXKCPShims,SwiftASN1,HTTPTypes,Logging}.build -name '*.o' 2>/dev/null)
    for one in "${stubs[@]}" "${adapters[@]}"; do objects+=("$build/objects/$one.o"); done
    swiftc "${strict[@]}" -parse-as-library -module-name AppleBehaviour -plugin-path "$toolchain/lib/swift/host/plugins/testing" \
        Tests/Apple/Behaviour/*.swift "${objects[@]}" -lTesting -lstdc++ -o "$build/behaviour" || return 1
    "$build/behaviour" --testing-library swift-testing
}

case ${1:-check} in
    check) check ;;
    planted) planted ;;
    run) run ;;
esac

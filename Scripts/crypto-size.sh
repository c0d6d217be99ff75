#!/usr/bin/env bash
# What CryptoExtras adds to a linked program: one that does what an app does with Crypto alone, and one with scrypt and RSA besides
# (decision 0075). Needs a release build; BUILT says where.
set -euo pipefail
cd "$(dirname "$0")/.."
built=${BUILT:-.build/release}
[ -e "$built/Modules/CryptoExtras.swiftmodule" ] || { echo 'crypto-size: build first: swift build -c release --product cordon'; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

maps=()
for map in .build/checkouts/*/Sources/*/include/module.modulemap "$built"/*.build/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$map"); done
find "$built"/{CCryptoBoringSSL,CCryptoBoringSSLShims,CXKCP,CXKCPShims}.build -name '*.o' -print0 | xargs -0 ar rc "$work/boring.a"
find "$built"/{Crypto,CryptoExtras,CryptoBoringWrapper,SwiftASN1}.build -name '*.o' -print0 | xargs -0 ar rc "$work/swift.a"

cat >"$work/without.swift" <<'SWIFT'
import Crypto
import Foundation

@main struct Without {
    static func main() throws {
        let data = Data(CommandLine.arguments.joined().utf8)
        let (key, signer) = (SymmetricKey(size: .bits256), P256.Signing.PrivateKey())
        print(try AES.GCM.seal(data, using: key).ciphertext.count, try signer.signature(for: data).rawRepresentation.count)
        print(HKDF<SHA256>.deriveKey(inputKeyMaterial: key, outputByteCount: 32).bitCount, SHA256.hash(data: data))
    }
}
SWIFT
cat >"$work/with.swift" <<'SWIFT'
import Crypto
import CryptoExtras
import Foundation

@main struct With {
    static func main() throws {
        let data = Data(CommandLine.arguments.joined().utf8)
        let key = try KDF.Scrypt.deriveKey(
            from: data, salt: data, outputByteCount: 32, rounds: 1 << 15, blockSize: 8, parallelism: 1)
        let signer = P256.Signing.PrivateKey()
        print(try AES.GCM.seal(data, using: key).ciphertext.count, try signer.signature(for: data).rawRepresentation.count)
        let other = try _RSA.Signing.PublicKey(n: data, e: data)
        let signature = _RSA.Signing.RSASignature(rawRepresentation: data)
        print(other.isValidSignature(signature, for: SHA256.hash(data: data), padding: .insecurePKCS1v1_5))
    }
}
SWIFT
for program in without with; do
    swiftc -O -swift-version 5 -parse-as-library -I "$built/Modules" "${maps[@]}" -c "$work/$program.swift" -o "$work/$program.o"
    swiftc -use-ld=lld "$work/$program.o" -o "$work/$program" -Xlinker --start-group -Xlinker "$work/swift.a" -Xlinker "$work/boring.a" \
        -Xlinker --end-group -lstdc++ -lm -Xlinker --gc-sections -Xlinker "-Map=$work/$program.map"
    strip "$work/$program"
    # Of the map: the sections that are loaded, by the archive that they come from.
    whole=$(size "$work/$program" | awk 'NR == 2 {print $4}')
    python3 - "$program" "$whole" "$work/$program.map" <<'PYTHON'
import pathlib
import re
import sys

program, whole, path = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
line = re.compile(r"\s*[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+\s+\S*(boring|swift)\.a\([^)]*\):\(\.(?!debug|comment|note|symtab|strtab)")
bytes_of = {"boring": 0, "swift": 0}
for size, archive in line.findall(path.read_text(errors="replace")):
    bytes_of[archive] += int(size, 16)
print(f"{program:8} {whole >> 10:5} KiB in all; BoringSSL {bytes_of['boring'] >> 10} KiB, Crypto, CryptoExtras and SwiftASN1 {bytes_of['swift'] >> 10} KiB")
PYTHON
done

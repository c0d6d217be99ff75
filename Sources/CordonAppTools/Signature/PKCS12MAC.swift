import Crypto
import Foundation
import SwiftASN1

/// The password-based MAC over a PKCS#12 file (RFC 7292, appendix B).
struct PKCS12MAC {
    private let hash: SignatureHash
    private let expected: Data
    private let salt: Data
    private let rounds: Int

    init(_ node: DERNode, _ allowance: inout KeyRounds) throws(AppToolsError) {
        let info = try node.child(0)
        guard let hash = SignatureHash(try info.child(0).child(0).object()) else {
            throw AppToolsError(.unsupported, "the PKCS#12 file is protected by an unknown kind of MAC")
        }
        self.hash = hash
        expected = Data(try info.child(1).content)
        let fields = try node.children()
        salt = Data(try node.child(1).content)
        rounds = fields.count > 2 ? try allowance.take(fields[2]) : 1
    }

    func authenticates(_ content: Data, password: String) -> Bool {
        hash.isAuthenticationCode(expected, of: content, key: SymmetricKey(data: key(password)))
    }

    /// The derivation for MAC keys; the key is never longer than one hash.
    private func key(_ password: String) -> Data {
        let unit = hash.blockSize
        func filled(_ data: Data) -> Data {
            guard !data.isEmpty else { return Data() }
            let size = (data.count + unit - 1) / unit * unit
            return Data((0..<size).map { data[data.startIndex + $0 % data.count] })
        }
        let text = Data((Array(password.utf16) + [0]).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
        var key = Data(repeating: 3, count: unit) + filled(salt) + filled(text)
        for _ in 0..<rounds { key = hash.hash(key) }
        return key
    }
}

/// The rounds of key derivation that a file may still ask for: each of its parts names a number, and absurd ones would hang the
/// tool.
struct KeyRounds {
    private static let most = 10_000_000
    private var left = Self.most

    /// Reads a number of rounds and counts it.
    mutating func take(_ node: DERNode) throws(AppToolsError) -> Int {
        guard node.identifier == .integer, (1...4).contains(node.content.count) else {
            throw AppToolsError(.malformed, "the PKCS#12 file's number of rounds cannot be read")
        }
        let rounds = node.content.reduce(0) { $0 << 8 | Int($1) }
        guard rounds > 0, rounds <= left else {
            throw AppToolsError(
                .unsupported,
                "the PKCS#12 file wants \(rounds) rounds of key derivation; \(left) of \(Self.most) are left")
        }
        left -= rounds
        return rounds
    }
}

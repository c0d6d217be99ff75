import CordonBase
import Crypto
import Foundation

/// Seals values that a browser or the store keeps.
enum SealedText {
    static func seal(_ value: some Encodable, under key: SymmetricKey, for purpose: String) throws -> Data {
        let box = try AES.GCM.seal(JSONEncoder().encode(value), using: key, authenticating: Data(purpose.utf8))
        // Nil only for a nonce of another size than the usual, which is not asked for here.
        guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
        return combined
    }

    /// The value; nil for what was not sealed under the key for this purpose.
    static func open<Value: Decodable>(
        _ type: Value.Type, _ sealed: Data, under key: SymmetricKey, for purpose: String
    ) -> Value? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let bytes = try? AES.GCM.open(box, using: key, authenticating: Data(purpose.utf8))
        else { return nil }
        return try? JSONDecoder().decode(type, from: bytes)
    }

    /// Random text of 256 bits.
    static func random() -> String {
        Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) })
    }

    static func isSame(_ left: String, _ right: String) -> Bool {
        SymmetricKey(data: SHA256.hash(data: Data(left.utf8)))
            == SymmetricKey(data: SHA256.hash(data: Data(right.utf8)))
    }
}

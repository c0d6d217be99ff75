internal import Crypto
internal import Foundation

/// Sealing and opening of one file of the cache: head, then AES-256-GCM (12-byte nonce, ciphertext, 16-byte tag).
///
/// The head, the file's name (a hash of provider, client and account) and the client are authenticated with
/// it, so no record can stand in for another one (SI-204).
enum SealedRecord {
    static func seal(
        _ content: Data, _ header: SealedHeader, key: SymmetricKey, name: String, owner: String
    ) throws(SignInError) -> Data {
        do {
            let box = try AES.GCM.seal(content, using: key, authenticating: context(header, name, owner))
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            return header.bytes + combined
        } catch {
            throw SignInError(.storage, .storeUnavailable, "a session could not be sealed")
        }
    }

    static func open(
        _ file: Data, _ header: SealedHeader, key: SymmetricKey, name: String, owner: String
    ) throws(SignInError) -> Data {
        do {
            let box = try AES.GCM.SealedBox(combined: file.dropFirst(SealedHeader.size))
            return try AES.GCM.open(box, using: key, authenticating: context(header, name, owner))
        } catch {
            throw SignInError(.storage, .storeDamaged, "a stored session cannot be opened")
        }
    }

    private static func context(_ header: SealedHeader, _ name: String, _ owner: String) -> Data {
        header.bytes + Data((name + "\n" + owner).utf8)
    }
}

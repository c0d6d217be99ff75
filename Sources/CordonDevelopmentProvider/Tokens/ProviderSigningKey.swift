import CordonProtocol
import CordonSignatures
import Crypto
public import Foundation
import HTTPTypes

/// Where the provider keeps the key that signs its tokens.
public enum IdentityProviderKeyStorage: Sendable, Equatable {
    /// A new key in every process; tokens end with it.
    case inMemory
    /// PKCS #8 in PEM, readable by its owner only; made when the file is absent.
    case file(URL)
}

/// Public keys as a JWK Set (RFC 7517).
struct ProviderKeySet: Encodable {
    let keys: [JSONWebKey]
}

/// The ES256 key of the provider and its key id, which is the RFC 7638 thumbprint.
struct ProviderSigningKey: Sendable {
    let key: P256.Signing.PrivateKey
    private let publicKey: JSONWebKey

    /// The key id.
    var id: String { publicKey.keyID }

    /// The key set that others verify tokens with (RFC 7517).
    var published: ProviderKeySet { ProviderKeySet(keys: [publicKey]) }

    private struct Header: Encodable {
        let alg: String
        let kid: String
        let typ: String
    }

    init(_ key: P256.Signing.PrivateKey) throws(ProgramError) {
        self.key = key
        do {
            publicKey = try JSONWebKey(point: key.publicKey.rawRepresentation)
        } catch {
            throw ProgramError(
                .signingKeyInvalid, reason: error.reason, place: "signing key", hint: "have a new key made")
        }
    }

    init(_ storage: IdentityProviderKeyStorage) throws(ProgramError) {
        switch storage {
        case .inMemory: try self.init(P256.Signing.PrivateKey())
        case .file(let file): try self.init(try Self.key(in: file))
        }
    }

    private static func key(in file: URL) throws(ProgramError) -> P256.Signing.PrivateKey {
        guard FileManager.default.fileExists(atPath: file.path) else {
            let key = P256.Signing.PrivateKey()
            try ProviderPrivateFile.write(Data(key.pemRepresentation.utf8), to: file)
            return key
        }
        let bytes = try ProviderPrivateFile.read(file, atMost: 65_536)
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: String(decoding: bytes, as: UTF8.self)) else {
            throw ProgramError(
                .signingKeyInvalid, reason: "the file holds no P-256 private key", place: file.path,
                hint: "remove the file to have a new key made; tokens signed so far become invalid")
        }
        return key
    }

    func sign(_ claims: some Encodable, type: String) throws(OAuthError) -> String {
        do {
            return try SignedText.make(
                header: try ProviderJSON.encode(Header(alg: "ES256", kid: id, typ: type)),
                payload: try ProviderJSON.encode(claims)
            ) { try key.signature(for: $0).rawRepresentation }
        } catch {
            throw OAuthError(.serverError, "the token cannot be signed", status: .internalServerError)
        }
    }

    /// The claims of a token this key signed with this `typ`; expiry is the caller's business.
    func claims<Claims: Decodable>(_ type: Claims.Type, in token: String, typ: String) -> Claims? {
        guard let text = try? SignedText(token, .ownToken(typ)), text.keyID == id,
            text.isSigned(by: publicKey.verification)
        else { return nil }
        return try? JSONDecoder().decode(type, from: text.payload)
    }
}

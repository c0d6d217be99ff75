internal import CordonBase
package import CordonProtocol
internal import Crypto
internal import Foundation

/// The version of what keeps none of its own: what it says (SRV-OP-008).
package enum ContentVersion {
    /// A short digest of some content, the same for the same content in every process.
    ///
    /// A value without a JSON form gets another version each time, so no administrator can claim to have seen the present one.
    package static func of(_ content: some Encodable) -> String {
        guard let bytes = try? MessageCoding.encode(content) else { return UUID().uuidString }
        return Base64URL.encode(Data(SHA256.hash(data: bytes)).prefix(12))
    }

    /// The version of the accounts that may be used, nil for no restriction.
    package static func of(_ accounts: [PolicyEnvelope.AllowedAccount]?) -> String {
        struct Content: Encodable { var accounts: [PolicyEnvelope.AllowedAccount]? }
        return of(Content(accounts: accounts))
    }
}

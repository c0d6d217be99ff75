public import Foundation

/// Signed content as device management uses it: attached, in BER or DER (TL-MC-06).
public enum CMSEnvelope {
    /// The content of a signed message, such as a provisioning profile. The signature is not judged.
    /// - Throws: ``AppToolsError`` `malformed` when the data is no signed message with content.
    public static func content(of data: Data) throws(AppToolsError) -> Data {
        let fields = try DERNode(data).child(1).child(0).children()
        guard fields.count >= 3 else { throw AppToolsError(.malformed, "the signed message is incomplete") }
        return try fields[2].child(1).child(0).octets()
    }

    /// Whether a signed message's content is another than was signed; false also where the message does not tell.
    static func isChanged(_ data: Data) -> Bool {
        guard let content = try? content(of: data), let attributes = try? CMSParts(data).attributes else {
            return false
        }
        return !attributes.isSigned(content)
    }
}

package import CordonPolicy
package import Foundation

/// The envelope of Graph's refusals (SRV-OP-023), in which paths that no route has are answered as well.
package enum GraphEnvelope {
    package static let mediaType = "application/json;odata.metadata=minimal;charset=utf-8"

    /// The envelope as bytes.
    ///
    /// - Parameters:
    ///   - details: One entry for each unacceptable member.
    ///   - clientID: The id that the client gave its request, nil for none.
    package static func bytes(
        code: String, message: String, details: [JSONValue] = [], id: String, clientID: String? = nil, at time: Date
    ) -> Data {
        let inner: [String: JSONValue] = [
            // No zone here.
            "date": .string(String(time.formatted(Date.ISO8601FormatStyle()).dropLast())), "request-id": .string(id),
            "client-request-id": .string(clientID ?? id),
        ]
        var error: [String: JSONValue] = [
            "code": .string(code), "message": .string(message), "innerError": .object(inner),
        ]
        if !details.isEmpty { error["details"] = .array(details) }
        return Data(JSONValue.object(["error": .object(error)]).text().utf8)
    }
}

internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// Claims asked for in the ID token or the access token (OpenID Connect Core §5.5); other targets are refused.
public struct ClaimsRequest: Sendable, Equatable {
    /// The JSON text of the request, keys sorted.
    public let json: String

    /// Reads a request from JSON.
    ///
    /// - Throws: ``SignInError`` with code `configuration` when it is not an object of `id_token` and `access_token`.
    public init(json: String) throws(SignInError) {
        guard let object = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any],
            Set(object.keys).isSubset(of: ["id_token", "access_token"]),
            object.values.allSatisfy({ $0 is [String: Any] }), json.utf8.count <= 16_384
        else {
            throw SignInError(
                .configuration, .invalidParameter, "the claims are not an object of id_token and access_token")
        }
        self.json = Self.text(object)
    }

    /// The claims that a resource demands in a `WWW-Authenticate` header, nil when it demands none (SI-116).
    public init?(challenge header: String) {
        guard header.contains("insufficient_claims"),
            let value = header.firstMatch(of: #/claims="([A-Za-z0-9_\-+/=]+)"/#)?.1,
            let bytes = Base64URL.decode(
                value.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")),
            let request = try? ClaimsRequest(json: String(decoding: bytes, as: UTF8.self))
        else { return nil }
        self = request
    }

    /// The request together with what the client can handle, nil when there is neither (SI-098).
    static func parameter(_ request: ClaimsRequest?, capabilities: [String]) -> String? {
        guard !capabilities.isEmpty else { return request?.json }
        var object =
            (try? JSONSerialization.jsonObject(with: Data((request?.json ?? "{}").utf8)) as? [String: Any]) ?? [:]
        var accessToken = object["access_token"] as? [String: Any] ?? [:]
        accessToken["xms_cc"] = ["values": capabilities]
        object["access_token"] = accessToken
        return text(object)
    }

    private static func text(_ object: [String: Any]) -> String {
        let bytes = try? JSONSerialization.data(
            withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: bytes ?? Data("{}".utf8), as: UTF8.self)
    }
}

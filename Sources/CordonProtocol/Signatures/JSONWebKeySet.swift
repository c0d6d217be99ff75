/// Public keys by id (RFC 7517 §5).
public struct JSONWebKeySet: Sendable, Equatable, Codable {
    /// The keys; where two have one id, the first counts.
    public let keys: [JSONWebKey]

    /// Makes a set.
    public init(_ keys: [JSONWebKey]) {
        self.keys = keys
    }

    /// The key with the id.
    public subscript(keyID: String) -> JSONWebKey? {
        keys.first { $0.keyID == keyID }
    }
}

/// The algorithms that a signature may have (RFC 7518 §3.1, RFC 8037). `none` and shared secrets are not among them, so no
/// profile can allow them.
package enum SignatureAlgorithm: String, Sendable, CaseIterable {
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"

    /// The algorithm of a name; RFC 9864 calls EdDSA by the curve of its key, of which there is one here.
    package init?(named name: String) { self.init(rawValue: name == "Ed25519" ? "EdDSA" : name) }

    /// Whether what is signed is the SHA-256 of the bytes.
    var isOverSHA256: Bool { [.es256, .rs256, .ps256].contains(self) }
}

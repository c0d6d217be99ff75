import CordonBase
import HTTPTypes

extension HTTPField.Name {
    /// A proof of possession (RFC 9449 §4).
    static let dpop = constant("DPoP")
    /// The nonce for the next proof (RFC 9449 §8).
    static let dpopNonce = constant("DPoP-Nonce")
    /// The id that a client gave its request.
    static let correlationID = constant("X-Correlation-ID")
    /// Whether other sites may frame a page (RFC 7034).
    static let xFrameOptions = constant("X-Frame-Options")
    /// What a browser tells other sites of a page.
    static let referrerPolicy = constant("Referrer-Policy")

    /// A name that is written in the source; one that is not a name of HTTP would be `Via`.
    private static func constant(_ name: StaticString) -> Self { Self("\(name)") ?? .via }
}

import HTTPTypes

extension HTTPField.Name {
    /// The request's id in an answer; Graph's name for it.
    static let requestID = Self("request-id")!
    /// The id that a client gave its request.
    static let clientRequestID = Self("client-request-id")!
    /// The nonce for the next proof (RFC 9449 §8).
    static let dpopNonce = Self("DPoP-Nonce")!
    /// A proof of possession (RFC 9449 §4).
    static let dpop = Self("DPoP")!
    /// The version of OData that an answer follows.
    static let odataVersion = Self("OData-Version")!
    /// What of a `Prefer` header was honoured (RFC 7240).
    static let preferenceApplied = Self("Preference-Applied")!
    /// What a client would like (RFC 7240).
    static let prefer = Self("Prefer")!
    /// Where an event stream is to go on.
    static let lastEventID = Self("Last-Event-ID")!
    /// The scheme that a client used towards a proxy.
    static let forwardedProtocol = Self("X-Forwarded-Proto")!
    /// How many bytes of an upload are here.
    static let uploadOffset = Self("Upload-Offset")!
    /// Tells a proxy in front not to hold an answer back.
    static let accelBuffering = Self("X-Accel-Buffering")!
}

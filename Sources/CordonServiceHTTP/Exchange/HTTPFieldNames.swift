import Foundation
package import HTTPTypes
package import Hummingbird

extension HTTPField.Name {
    /// The request's id in an answer; Graph's name for it.
    package static let requestID = constant("request-id")
    /// The id that a client gave its request.
    package static let clientRequestID = constant("client-request-id")
    /// The nonce for the next proof (RFC 9449 §8).
    package static let dpopNonce = constant("DPoP-Nonce")
    /// A proof of possession (RFC 9449 §4).
    package static let dpop = constant("DPoP")
    /// The version of OData that an answer follows.
    package static let odataVersion = constant("OData-Version")
    /// What of a `Prefer` header was honoured (RFC 7240).
    package static let preferenceApplied = constant("Preference-Applied")
    /// What a client would like (RFC 7240).
    package static let prefer = constant("Prefer")
    /// Why an administrator makes a change; UTF-8, percent-encoded.
    package static let changeReason = constant("Cordon-Reason")
    /// The token of the impact that an administrator was shown.
    package static let impactToken = constant("Cordon-Impact")
    /// The id of the change that waits for another administrator to release it.
    package static let waitingChange = constant("Cordon-Waiting-Change")
    /// What the answer is linked with, such as the next page (RFC 8288).
    package static let link = constant("Link")
    /// Where an event stream is to go on.
    package static let lastEventID = constant("Last-Event-ID")
    /// The scheme that a client used towards a proxy.
    package static let forwardedProtocol = constant("X-Forwarded-Proto")
    /// How many bytes of an upload are here.
    package static let uploadOffset = constant("Upload-Offset")
    /// Tells a proxy in front not to hold an answer back.
    package static let accelBuffering = constant("X-Accel-Buffering")
    /// That the sender of a request was let in; said to the connection, which takes it away.
    static let knownSender = constant("Cordon-Known-Sender")
    /// A host beside the one that a request is for.
    package static let host = constant("Host")
    /// The id that a client gave its request and has in its own log.
    package static let correlationID = constant("X-Correlation-ID")
    /// Where a request stands in its client's trace (W3C Trace Context §3.2).
    static let traceParent = constant("traceparent")

    /// A name that is written in the source; one that is not a name of HTTP would be `Via`.
    private static func constant(_ name: StaticString) -> Self { Self("\(name)") ?? .via }
}

/// Entity tags (RFC 9110 §8.8.3).
package enum EntityTag {
    /// The version in `If-Match`, nil when any will do (SRV-OP-008).
    package static func expected(by request: Request) -> String? {
        request.headers[.ifMatch].flatMap { $0 == "*" ? nil : version(in: $0) }
    }

    /// The version that a tag names, weak or strong, with or without its quotes.
    package static func version(in tag: String) -> String {
        var text = tag.trimmingCharacters(in: .whitespaces)
        if text.hasPrefix("W/") { text.removeFirst(2) }
        return text.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    }
}

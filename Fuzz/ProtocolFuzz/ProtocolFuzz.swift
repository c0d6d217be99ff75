import CordonBase
import CordonProtocol
import Foundation

/// Feeds foreign bytes to the parsers of everything that crosses the network: signed texts, proofs, key sets, messages,
/// event streams and audit records.
///
/// Nothing unsigned may be accepted, base64url has one spelling, and an event stream means the same however it is cut.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProtocol(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = start.map { Data(bytes: $0, count: count) } ?? Data()
    signedTexts(String(decoding: bytes, as: UTF8.self))
    messages(bytes)
    events(bytes)
    return 0
}

private let key = SoftwareSigningKey()

private func signedTexts(_ text: String) {
    for type in MessageType.allCases {
        let payload = try? CompactJWS.payload(of: text, type: type, signedBy: JSONWebKeySet([key.publicKey]))
        precondition(payload == nil, "an unsigned text was accepted")
    }
    if let url = URL(string: "https://cordon.example/") {
        _ = try? DPoPProof(verifying: text, method: "POST", url: url, accessToken: nil, now: Date())
    }
    if let bytes = Base64URL.decode(text) {
        precondition(Base64URL.encode(bytes) == text, "two spellings of one value")
    }
}

private func messages(_ bytes: Data) {
    _ = try? MessageCoding.read(PolicyEnvelope.self, from: bytes)
    _ = try? MessageCoding.decode(SignedKeySet.self, from: bytes).verified(pin: key.publicKey.thumbprint, at: Date())
    _ = try? MessageCoding.decode(RegistrationRequest.self, from: bytes)
    _ = try? MessageCoding.decode(CheckInRequest.self, from: bytes)
    _ = try? MessageCoding.decode(Acknowledgement.self, from: bytes)
    _ = try? MessageCoding.decode(ProblemDetails.self, from: bytes)
}

private func events(_ bytes: Data) {
    var whole = EventStreamParser()
    var pieces = EventStreamParser()
    guard let expected = try? whole.messages(after: bytes) else { return }
    var seen: [EventStreamParser.Message] = []
    for byte in bytes { seen += (try? pieces.messages(after: [byte])) ?? [] }
    precondition(seen == expected, "the cut of the bytes changed the events")
}

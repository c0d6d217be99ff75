internal import CordonBase
internal import CordonProtocol
internal import Foundation

/// The session's key, which stays in the broker: it signs proofs of possession and receipts, nothing else.
struct BrokerSigner: MessageSigner {
    let connection: BrokerConnection
    let session: UInt64
    let publicKey: JSONWebKey
    let deadline: Duration

    func signature(for bytes: Data) throws(ProtocolError) -> Data {
        let call = ProofCall(session: session, input: String(decoding: bytes, as: UTF8.self))
        do throws(SignInError) {
            let text = try connection.callBlocking(call, within: deadline)
            guard let signature = Base64URL.decode(text), signature.count == 64 else {
                throw SignInError(.brokerUnavailable, .invalidResponse, "the broker's signature is malformed")
            }
            return signature
        } catch {
            // A broker signs nothing that it does not know, and nothing more once the session has ended. What it denies may be this program
            // alone, until its next start.
            let isUnknownText = error.code == .brokerRefused && error.fault == .invalidRequest
            let isFinal = isUnknownText || error.code == .interactionRequired
            throw ProtocolError(isFinal ? .unsupported : .signingFailed, "the broker did not sign: \(error.reason)")
        }
    }
}

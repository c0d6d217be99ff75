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
        var request = BrokerRequest(.tokenProof)
        request.session = session
        request.input = String(decoding: bytes, as: UTF8.self)
        do throws(SignInError) {
            let answer = try connection.callBlocking(request, within: deadline)
            guard let signature = answer.signature.flatMap({ Base64URL.decode($0) }), signature.count == 64 else {
                throw SignInError(.brokerUnavailable, .invalidResponse, "the broker's signature is malformed")
            }
            return signature
        } catch {
            throw ProtocolError(.signingFailed, "the broker did not sign: \(error.reason)")
        }
    }
}

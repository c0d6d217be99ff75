internal import CordonBase
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// A secret of one authorization request that only the sender can redeem the code with (RFC 7636, S256).
struct ProofKey: Sendable {
    let verifier: String

    init(_ environment: SignInEnvironment) {
        verifier = Base64URL.encode(environment.randomBytes(32))
    }

    var challenge: String {
        Base64URL.encode(SHA256.hash(data: Data(verifier.utf8)).withUnsafeBytes { Data($0) })
    }
}

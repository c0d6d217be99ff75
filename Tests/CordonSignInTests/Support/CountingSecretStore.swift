import CordonIdentity
import CordonSignIn
import Foundation

/// Secrets in memory that tests can count, and set back to an earlier state.
final class CountingSecretStore: SecretStore {
    private let secrets = Locked<[String: Data]>([:])

    var isHardwareBacked: Bool { false }

    var count: Int { secrets.withLock { $0.count } }

    var snapshot: [String: Data] { secrets.withLock { $0 } }

    func restore(_ snapshot: [String: Data]) { secrets.withLock { $0 = snapshot } }

    func secret(named name: String) throws(SignInError) -> Data? { secrets.withLock { $0[name] } }

    func keep(_ secret: Data, named name: String) throws(SignInError) { secrets.withLock { $0[name] = secret } }

    func destroy(named name: String) throws(SignInError) { secrets.withLock { $0[name] = nil } }
}

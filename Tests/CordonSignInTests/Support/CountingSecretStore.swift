import CordonBase
import CordonSignIn
import Foundation

/// Secrets in memory that tests can count, set back to an earlier state, and make unreadable for a while.
final class CountingSecretStore: SecretStore {
    private let secrets = Locked<[String: Data]>([:])
    private let isLocked = Locked(false)

    var isHardwareBacked: Bool { false }

    /// How many there are besides the key that marks of sign-outs are named under, which stays.
    var count: Int { secrets.withLock { $0.keys.count { $0 != "signed-out" } } }

    var snapshot: [String: Data] { secrets.withLock { $0 } }

    func restore(_ snapshot: [String: Data]) { secrets.withLock { $0 = snapshot } }

    /// Whether reading fails from now on, as that of a keychain behind a locked screen.
    func lock(_ isLocked: Bool) { self.isLocked.withLock { $0 = isLocked } }

    func secret(named name: String) throws(SignInError) -> Data? {
        guard !isLocked.withLock({ $0 }) else {
            throw SignInError(.storage, .storeUnavailable, "the secrets cannot be read just now")
        }
        return secrets.withLock { $0[name] }
    }

    func keep(_ secret: Data, named name: String) throws(SignInError) { secrets.withLock { $0[name] = secret } }

    func destroy(named name: String) throws(SignInError) { secrets.withLock { $0[name] = nil } }
}

import CordonBase
import CordonSignIn
import Foundation

/// Secrets in memory, of which some cannot be destroyed, and say so or not.
final class ClingingSecrets: SecretStore {
    private let inner = Locked<[String: Data]>([:])
    let clings = Locked<(name: String, saysSo: Bool)?>(nil)
    var isHardwareBacked: Bool { false }

    func secret(named name: String) throws(SignInError) -> Data? { inner.withLock { $0[name] } }

    func keep(_ secret: Data, named name: String) throws(SignInError) { inner.withLock { $0[name] = secret } }

    func destroy(named name: String) throws(SignInError) {
        if let kept = clings.withLock({ $0 }), name.hasPrefix(kept.name) {
            guard kept.saysSo else { return }
            throw SignInError(.storage, .storeUnavailable, "the disk is read-only")
        }
        inner.withLock { $0[name] = nil }
    }

    var names: [String] { inner.withLock { Array($0.keys) } }
}

import CordonBase
import CordonSignIn
import Foundation

/// A secret store whose keys cannot be destroyed or read once it is told so, or that keeps no more, as on a full disk.
final class StubbornSecretStore: SecretStore {
    private let inner = MemorySecretStore()
    private let isStubborn = Locked(false)
    private let isFull = Locked(false)
    private let hidden = Locked<String?>(nil)

    var isHardwareBacked: Bool { false }

    func refuse(_ isStubborn: Bool = true) { self.isStubborn.withLock { $0 = isStubborn } }

    func fill(_ isFull: Bool) { self.isFull.withLock { $0 = isFull } }

    /// Has the secret of this name not be readable, though it is there.
    func hide(_ name: String?) { hidden.withLock { $0 = name } }

    func secret(named name: String) throws(SignInError) -> Data? {
        guard hidden.withLock({ $0 }) != name else {
            throw SignInError(.storage, .storeUnavailable, "no more files may be open")
        }
        return try inner.secret(named: name)
    }

    func keep(_ secret: Data, named name: String) throws(SignInError) {
        guard !isFull.withLock({ $0 }) else { throw SignInError(.storage, .storeUnavailable, "the disk is full") }
        try inner.keep(secret, named: name)
    }

    func destroy(named name: String) throws(SignInError) {
        guard !isStubborn.withLock({ $0 }) else {
            throw SignInError(.storage, .storeUnavailable, "the key cannot be destroyed")
        }
        try inner.destroy(named: name)
    }
}

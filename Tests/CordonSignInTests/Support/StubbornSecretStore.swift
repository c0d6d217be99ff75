import CordonBase
import CordonSignIn
import Foundation

/// A secret store whose keys cannot be destroyed once it is told so, or that keeps no more, as on a full disk.
final class StubbornSecretStore: SecretStore {
    private let inner = MemorySecretStore()
    private let isStubborn = Locked(false)
    private let isFull = Locked(false)

    var isHardwareBacked: Bool { false }

    func refuse(_ isStubborn: Bool = true) { self.isStubborn.withLock { $0 = isStubborn } }

    func fill(_ isFull: Bool) { self.isFull.withLock { $0 = isFull } }

    func secret(named name: String) throws(SignInError) -> Data? { try inner.secret(named: name) }

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

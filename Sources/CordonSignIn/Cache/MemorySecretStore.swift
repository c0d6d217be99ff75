internal import CordonBase
public import Foundation

/// Secrets that end with the process: for tests and for devices that forget at every start.
public final class MemorySecretStore: SecretStore {
    private let secrets = Locked<[String: Data]>([:])

    /// Makes an empty store.
    public init() {}

    /// Always false.
    public var isHardwareBacked: Bool { false }

    /// The secret with the name.
    public func secret(named name: String) throws(SignInError) -> Data? {
        secrets.withLock { $0[name] }
    }

    /// Keeps a secret.
    public func keep(_ secret: Data, named name: String) throws(SignInError) {
        secrets.withLock { $0[name] = secret }
    }

    /// Forgets a secret.
    public func destroy(named name: String) throws(SignInError) {
        secrets.withLock { $0[name] = nil }
    }
}

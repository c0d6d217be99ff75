import Cordon
import CordonBase
import Crypto

/// Items that a finger opens, with the statuses of Apple's Keychain.
final class FingerItems: BiometryItems {
    let keys = Locked<[String: SymmetricKey]>([:])
    /// How a question for a key ends.
    let status = Locked(BiometryItemStatus.done)
    /// How the removal of a key ends; nothing but ``BiometryItemStatus/done`` removes it.
    let forgetting = Locked(BiometryItemStatus.done)

    func keep(_ key: SymmetricKey, named name: String) async -> BiometryItemStatus {
        keys.withLock { $0[name] = key }
        return .done
    }

    func key(named name: String) async -> (status: BiometryItemStatus, key: SymmetricKey?) {
        let status = status.withLock { $0 }
        guard status == .done else { return (status, nil) }
        guard let key = keys.withLock({ $0[name] }) else { return (.notFound, nil) }
        return (.done, key)
    }

    func forget(_ name: String) async -> BiometryItemStatus {
        let status = forgetting.withLock { $0 }
        if status == .done { keys.withLock { $0[name] = nil } }
        return status
    }
}

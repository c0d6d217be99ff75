internal import CordonBase

/// Whether the store takes changes; one that cannot be written answers reads as ever.
final class StoreHealth: Sendable {
    private let last = Locked<ServiceError?>(nil)

    /// Why a change could not be written, nil where none failed since the store took a ``StoreProbe``.
    var failure: ServiceError? { last.withLock { $0 } }

    /// Notes that a change failed; what was refused for another reason says nothing of the store.
    func note(_ error: ServiceError) {
        switch error.code {
        case .storageUnavailable, .storageDamaged, .storageNewer: last.withLock { $0 = error }
        default: break
        }
    }

    /// Notes that the store took a probe. That it took another change says nothing: the smallest may find room on a full disk.
    func noteProbe() { last.withLock { $0 = nil } }
}

internal import CordonBase

/// How the last change of the store ended; a store that cannot be written answers reads as ever.
final class StoreHealth: Sendable {
    private let last = Locked<ServiceError?>(nil)

    /// Why the last change could not be written, nil where it could.
    var failure: ServiceError? { last.withLock { $0 } }

    /// Notes how a change ended; what was refused for another reason says nothing of the store.
    func note(_ error: ServiceError?) {
        switch error?.code {
        case nil: last.withLock { $0 = nil }
        case .storageUnavailable, .storageDamaged, .storageNewer: last.withLock { $0 = error }
        default: break
        }
    }
}

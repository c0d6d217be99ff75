internal import CordonBase

/// Whether the store takes changes; one that cannot be written answers reads as ever.
final class StoreHealth: Sendable {
    private let counts = Locked((failed: 0, probed: 0))

    /// The number of the newest change that could not be written, nil where none failed since the store took a ``StoreProbe``.
    var failure: Int? { counts.withLock { $0.failed > $0.probed ? $0.failed : nil } }

    /// Notes that a change failed; what was refused for another reason says nothing of the store.
    func note(_ error: ServiceError) {
        switch error.code {
        case .storageUnavailable, .storageDamaged, .storageNewer: counts.withLock { $0.failed += 1 }
        default: break
        }
    }

    /// Notes that the store took a probe after a failure; one that came meanwhile stays. That it took another change says nothing: the
    /// smallest may find room on a full disk.
    func noteProbe(after failure: Int) { counts.withLock { $0.probed = max($0.probed, failure) } }
}

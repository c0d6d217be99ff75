internal import CordonBase
internal import CordonService
internal import Foundation
internal import GRDB

/// Looks at every page of a large store behind its opening, over a connection of its own; small ones were looked at before.
///
/// What it finds is what every later call says: the store is damaged. May be used from any thread.
final class StoreCheck: Sendable {
    private struct State {
        var damage: ServiceError?
        var queue: DatabaseQueue?
        var isStopped = false
    }

    private let state = Locked(State())
    private let work = DispatchGroup()

    /// What is wrong with the store, nil while nothing is known to be.
    var damage: ServiceError? { state.withLock { $0.damage } }

    /// Starts to look; returns at once.
    func start(_ file: URL) {
        DispatchQueue.global(qos: .utility).async(group: work) { [self] in
            do {
                var configuration = Configuration()
                configuration.readonly = true
                configuration.busyMode = .timeout(5)
                let queue = try DatabaseQueue(path: file.path, configuration: configuration)
                defer { try? queue.close() }
                let goesOn = state.withLock { state in
                    if !state.isStopped { state.queue = queue }
                    return !state.isStopped
                }
                guard goesOn else { return }
                let answer = try queue.read { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
                if answer != "ok" { note(ServiceError(.storageDamaged, "the file is damaged", place: file.path)) }
            } catch {
                // That it could not look, or was stopped, says nothing of the file.
                let error = ServiceError(storage: error, place: file.path)
                if error.code == .storageDamaged { note(error) }
            }
            state.withLock { $0.queue = nil }
        }
    }

    /// Ends the look, wherever it is; returns when nothing reads the file any more.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.queue?.interrupt()
        }
        work.wait()
    }

    /// Returns when everything was looked at.
    func finish() async {
        await withCheckedContinuation { continuation in
            work.notify(queue: .global()) { continuation.resume() }
        }
    }

    private func note(_ damage: ServiceError) { state.withLock { $0.damage = damage } }
}

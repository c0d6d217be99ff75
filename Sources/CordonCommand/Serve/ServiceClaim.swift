import CordonBase
import Foundation

/// The right to serve from a folder and a store, which one process has at a time.
///
/// Event streams, limits, revoked sessions and the memory of proofs are of one process: a second one on the same store would
/// go on letting in whom the first one has shut out.
final class ServiceClaim: Sendable {
    /// The name of the lock in a data folder.
    static let name = "service.lock"

    private let locks: [AdvisoryLock]

    private init(_ locks: [AdvisoryLock]) { self.locks = locks }

    /// Takes folder and store at once.
    ///
    /// - Throws: ``CommandFailure``: `refused` while another process has them, `writeFailed` where no lock can be made.
    static func take(_ folder: URL, database: ServiceDatabase) throws(CommandFailure) -> ServiceClaim {
        var files = [folder.appending(path: name)]
        // Also where the store is in the folder itself: another folder may name it, or hold a link to it.
        if case .sqlite(let store) = database {
            files.append(URL(fileURLWithPath: store.resolvingSymlinksInPath().path + ".lock"))
        }
        var locks: [AdvisoryLock] = []
        for file in files { locks.append(try take(file)) }
        return ServiceClaim(locks)
    }

    private static func take(_ file: URL) throws(CommandFailure) -> AdvisoryLock {
        let lock: AdvisoryLock?
        do { lock = try AdvisoryLock.take(file) } catch {
            throw CommandFailure(
                .writeFailed, "\(file.path): a lock cannot be made there",
                hint: "Check permissions and free space.")
        }
        guard let lock else {
            throw CommandFailure(
                .refused, "\(file.deletingLastPathComponent().path): another process is using this service's folder",
                hint: "One service runs on a folder at a time; stop the other one first.")
        }
        return lock
    }

    /// False once a lock file was removed or replaced: another process may hold its successor.
    var isCurrent: Bool { !locks.contains(where: \.isGone) }

    /// Lets go of folder and store.
    func end() { locks.forEach { $0.end() } }
}

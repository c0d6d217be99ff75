import CordonBase
import Foundation

/// A folder of a command's own for what it unpacks. It goes when the work ends, and when the command is told to stop: with an app of
/// somebody else's in it, nothing of it may stay.
final class ScratchFolder {
    /// Where it is; only this user can look into it.
    let url: URL
    private let isKept: Bool
    /// Whether the command was told to stop, and the folder is being removed.
    private let isStopped: Locked<Bool>
    private let signals: StopSignals

    /// Makes the folder, and from then on ends the process on SIGHUP, SIGINT, SIGQUIT and SIGTERM with 128 and the signal's number, as a shell
    /// has it.
    ///
    /// - Parameters:
    ///   - isKept: Whether the folder stays, however the work ends.
    ///   - stopping: What else is done when the command is told to stop, before the folder goes.
    /// - Throws: ``CommandFailure`` with status `writeFailed`.
    init(
        in place: URL = FileManager.default.temporaryDirectory, isKept: Bool = false,
        stopping: @escaping @Sendable () -> Void = {}
    ) throws(CommandFailure) {
        let folder = place.appending(path: "cordon-\(UUID().uuidString)")
        let isStopped = Locked(false)
        (url, self.isKept, self.isStopped) = (folder, isKept, isStopped)
        // `nohup` has the process go on where its terminal is closed, and a script's `&` where keys end the program in front.
        let heeded = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].filter { !Self.isIgnored($0) }
        signals = StopSignals(heeded) { Self.stop(isKept ? nil : folder, isStopped, stopping, $0) }
        guard mkdir(folder.path, 0o700) == 0 else {
            signals.end()
            throw CommandFailure(.writeFailed, "\(folder.path): no temporary folder can be made")
        }
    }

    /// Removes the folder unless it is kept, after which signals do what they usually do.
    func remove() {
        // The process is about to end; with another status than that of the signal it would end too early.
        while isStopped.withLock({ $0 }) { Thread.sleep(forTimeInterval: 1) }
        if !isKept { try? FileManager.default.removeItem(at: url) }
        signals.end()
    }

    static func isIgnored(_ number: Int32) -> Bool {
        // The handler comes first in the structure, by another name on each platform.
        var action = sigaction()
        return sigaction(number, nil, &action) == 0
            && withUnsafeBytes(of: action) { $0.load(as: UInt.self) } == unsafeBitCast(SIG_IGN, to: UInt.self)
    }

    private static func stop(
        _ folder: URL?, _ isStopped: Locked<Bool>, _ stopping: () -> Void, _ number: Int32
    ) {
        let isFirst = isStopped.withLock { stopped -> Bool in
            defer { stopped = true }
            return !stopped
        }
        guard isFirst else { return }
        stopping()
        // Until nothing is left: the work goes on meanwhile, and may make what was removed anew.
        if let folder {
            for _ in 0..<mostRemovals {
                try? FileManager.default.removeItem(at: folder)
                guard access(folder.path, F_OK) == 0 else { break }
            }
        }
        Foundation.exit(128 + number)
    }

    private static let mostRemovals = 1_000
}

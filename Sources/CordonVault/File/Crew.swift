internal import CordonAEADShim
internal import CordonBase
internal import Dispatch
internal import Foundation

/// Work on a large span that falls into pieces, which several threads may do at once.
///
/// Who conforms unchecked promises that a piece changes nothing that another piece touches. The caller waits for all of them, and
/// meanwhile holds whatever orders access to the file.
protocol Piecework: Sendable {
    /// Does one piece.
    ///
    /// - Parameter worker: Which of the workers does it, from 0; one worker does one piece at a time.
    func doPiece(_ piece: Int, as worker: Int) throws(VaultError)
}

/// Threads that do the pieces of one span: as many as there are cores, at most four, and only the caller's own where a second one
/// would not pay or may not be (decision 160).
enum Crew {
    /// A shorter span is done before another thread has woken up.
    static let leastBytes = 1 << 20
    /// Bytes in a piece: few enough that a worker who starts late still finds some, and that all stop soon after a failure.
    static let pieceBytes = 1 << 17
    private static let mostWorkers = 4
    private static let pace = Locked(Pace())

    /// How many workers tests want; nil in an app.
    @TaskLocal static var wanted: Int?

    /// How many workers a span gets.
    static func workers(for bytes: Int) -> Int {
        // A forked child has none of its parent's threads, and Dispatch would wait for them, or end the child.
        guard bytes >= leastBytes, cordon_fork_generation() == 0 else { return 1 }
        if let wanted { return wanted }
        guard !isSparing, pace.withLock({ $0.wantsCrew() }) else { return 1 }
        return max(1, min(mostWorkers, ProcessInfo.processInfo.activeProcessorCount))
    }

    /// Whether the work is better done slowly: nobody waits for it, or the system asks for less heat or a longer battery. The work as a
    /// whole takes no less on several cores.
    private static var isSparing: Bool {
        if Task.currentPriority == .background { return true }
        #if canImport(Darwin)
            let process = ProcessInfo.processInfo
            return process.isLowPowerModeEnabled || process.thermalState == .serious
                || process.thermalState == .critical
        #else
            return false
        #endif
    }

    /// Does the pieces, and gives the first failure in their order, if there was one.
    ///
    /// Pieces are taken in order. After a failure no more are taken, and those that others have taken are done to their end: every piece
    /// before the failed one is done, as if one thread had done them all. Some behind it may be done, too.
    static func perform(_ work: some Piecework, pieces: Int, workers: Int) -> PieceFailure? {
        guard workers > 1, pieces > 1 else {
            for piece in 0..<pieces {
                do { try work.doPiece(piece, as: 0) } catch {
                    return PieceFailure(piece: piece, error: error)
                }
            }
            return nil
        }
        let start = DispatchTime.now().uptimeNanoseconds
        let shift = Locked(Shift(pieces: pieces))
        @Sendable func takePieces(_ worker: Int) {
            while let piece = shift.withLock({ $0.take() }) {
                do { try work.doPiece(piece, as: worker) } catch {
                    shift.withLock { $0.fail(PieceFailure(piece: piece, error: error)) }
                }
            }
        }
        // The caller takes pieces as well, and waits for none that nobody has begun: where no other thread is free, it does them all.
        #if DEBUG
            let faults = DiskFaults.next
            DispatchQueue.concurrentPerform(iterations: min(workers, pieces)) { worker in
                DiskFaults.$next.withValue(faults) { takePieces(worker) }
            }
        #else
            DispatchQueue.concurrentPerform(iterations: min(workers, pieces), execute: takePieces)
        #endif
        let end = DispatchTime.now().uptimeNanoseconds
        let (failure, allTaken) = shift.withLock { ($0.failure, $0.allTaken ?? end) }
        pace.withLock { $0.note(worked: allTaken - start, waited: end - allTaken) }
        return failure
    }
}

/// Whether other workers are worth waiting for: where every core has something else to do, one that has begun a piece is put aside with it, and the
/// caller would wait longer than it had worked.
struct Pace: Sendable {
    /// Spans that the caller does alone after it had to wait.
    static let pause = 16
    private var alone = 0

    /// Asked once for each span.
    mutating func wantsCrew() -> Bool {
        guard alone > 0 else { return true }
        alone -= 1
        return false
    }

    /// Notes how long a crew had pieces to take, and how long its caller then waited for the last of them.
    mutating func note(worked: UInt64, waited: UInt64) {
        if waited > worked { alone = Self.pause }
    }
}

/// The first piece, in order, that failed, and why.
struct PieceFailure: Sendable {
    let piece: Int
    let error: VaultError
}

/// Which pieces are taken.
private struct Shift: Sendable {
    let pieces: Int
    private var next = 0
    private(set) var failure: PieceFailure?
    /// When the first worker found nothing left to take.
    private(set) var allTaken: UInt64?

    init(pieces: Int) { self.pieces = pieces }

    mutating func take() -> Int? {
        guard failure == nil, next < pieces else {
            allTaken = allTaken ?? DispatchTime.now().uptimeNanoseconds
            return nil
        }
        defer { next += 1 }
        return next
    }

    mutating func fail(_ failure: PieceFailure) {
        if let known = self.failure, known.piece < failure.piece { return }
        self.failure = failure
    }
}

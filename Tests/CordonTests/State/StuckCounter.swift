import Cordon
import CordonBase
import Foundation

/// A counter that takes no number while it is stuck, as one of a process that is killed just before.
struct StuckCounter: StateCounter {
    let numbers: FileStateCounter
    let isStuck = Locked(false)
    /// What it says then.
    let failure = Locked<any Error>(POSIXError(.EIO))
    /// Whether another process is always quicker with a number in place of another.
    let isOvertaken = Locked(false)
    /// The numbers of which it does not even say what they are.
    let silent = Locked<Set<String>>([])
    /// What happens, first to last, each time that it is asked for a number: before it answers, another process is quicker.
    let steps = Locked<[@Sendable () -> Void]>([])

    init(directory: URL) throws { numbers = try FileStateCounter(directory: directory) }

    func value(of name: String) throws -> Int64 {
        steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }?()
        if silent.withLock({ $0.contains(name) }) { throw POSIXError(.EIO) }
        return try numbers.value(of: name)
    }
    func raise(_ name: String, to number: Int64) throws {
        try requireAnswer(name)
        try numbers.raise(name, to: number)
    }
    func raise(_ name: String, from former: Int64, to number: Int64) throws -> Bool {
        try requireAnswer(name)
        if isOvertaken.withLock({ $0 }) { return false }
        return try numbers.raise(name, from: former, to: number)
    }

    private func requireAnswer(_ name: String) throws {
        if isStuck.withLock({ $0 }) || silent.withLock({ $0.contains(name) }) { throw failure.withLock { $0 } }
    }
}

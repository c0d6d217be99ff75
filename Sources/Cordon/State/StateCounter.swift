internal import CordonBase
public import Foundation

/// Numbers that only rise, kept apart from the data folder, so that an older copy of that folder is recognised, and so is a file
/// that was taken out of it (SRV-CI-085).
///
/// Cordon counts every record that it keeps about itself: registrations, what launch and PIN remember, unfinished wipes, what is still to be
/// tried.
/// Keep the numbers where a copy of the app's data does not reach: beside the device's root key. All processes of an app need the same
/// counter. Any thread may call.
///
/// The names of records say nothing to anyone without the root key. `counted-` and `sealed-`, with a hash of the app's bundle id, `lost`, and the
/// names of versions before, hashes of account ids, can be guessed.
///
/// A counter that was lost while records exist is noticed: the person signs in afresh then, and nothing is deleted. One that begins anew and
/// knows that it had numbers before notes 1 as `lost`; then no record that was not counted is taken for one of a version before.
public protocol StateCounter: Sendable {
    /// The highest number noted under a name, 0 where none was; throws when that cannot be told.
    func value(of name: String) throws -> Int64
    /// Notes a number; one that is not higher changes nothing. When this returns the number survives a crash.
    func raise(_ name: String, to number: Int64) throws
    /// Notes a higher number in place of the one that is there, as one step: of several processes that do so at once one succeeds, also where
    /// an attacker stops them in the middle. That is what makes each guess at a PIN count.
    ///
    /// - Returns: False, and nothing is noted, where another number is there by now.
    func raise(_ name: String, from former: Int64, to number: Int64) throws -> Bool
    /// Whether the numbers stay as they are when everything that the app and its user can write is put back to an older copy. Where they
    /// do not, every check-in says so to the service (`uncountedState` in `health`).
    var survivesRestore: Bool { get }
}

extension StateCounter {
    /// False: what is not promised is not relied on.
    public var survivesRestore: Bool { false }

    /// In two steps, for counters of one process.
    public func raise(_ name: String, from former: Int64, to number: Int64) throws -> Bool {
        guard try value(of: name) == former else { return false }
        try raise(name, to: number)
        return try value(of: name) == number
    }
}

/// Numbers in small files of mode 0600: the last resort, where a device has nothing better.
///
/// They recognise a file that was removed, edited or put back alone. An attacker who puts back these files too, such as a copy of the whole
/// home, is not noticed; the service hears at every check-in that the numbers are files.
public struct FileStateCounter: StateCounter {
    private let folder: StateFolder
    /// Told of the steps of a change; a test is the other process there.
    var observer: @Sendable (String) -> Void = { _ in }
    /// More than any number has.
    private static let longest = 64

    /// Keeps them in a folder, made where needed. Where you can, take one that copies of the data folder leave out.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public init(directory: URL) throws(ProtectionError) {
        folder = try StateFolder(given: directory)
    }

    /// Keeps them in a folder that has to be in its parent itself.
    init(inside directory: URL) throws(ProtectionError) { folder = try StateFolder(directory) }

    /// The highest number noted under a name.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnreadable`, also for a file that holds no number.
    public func value(of name: String) throws(ProtectionError) -> Int64 {
        guard let number = try number(in: folder.file(name)) else {
            throw ProtectionError(.stateUnreadable, "a state counter is damaged")
        }
        return number
    }

    /// Notes a number, durably. A file that holds no number is put aside and counts as lost; otherwise no sign-in could repair it.
    ///
    /// - Throws: ``ProtectionError``: `stateUnwritable`; `stateUnreadable` where the number before cannot be read, because
    ///   the new one may be lower.
    public func raise(_ name: String, to number: Int64) throws(ProtectionError) {
        try StateLock.holding(folder.lock) { (lock) throws(ProtectionError) in
            let file = folder.file(name)
            if let before = try self.number(in: file) {
                guard number > before else { return }
            } else {
                file.setAside()
            }
            try write(number, to: file, under: lock)
        }
    }

    /// Notes a number in place of another, durably and as one step.
    ///
    /// - Throws: ``ProtectionError``: `stateUnwritable`, also where the lock was taken away meanwhile; `stateUnreadable` where the number before
    ///   cannot be read.
    public func raise(_ name: String, from former: Int64, to number: Int64) throws(ProtectionError) -> Bool {
        try StateLock.holding(folder.lock) { (lock) throws(ProtectionError) in
            guard try value(of: name) == former, number > former else { return false }
            try write(number, to: folder.file(name), under: lock)
            return true
        }
    }

    /// Writes a number. Anyone who can write to the folder can remove the lock's file; another process may have counted since, so the
    /// change then fails.
    private func write(_ number: Int64, to file: StateFile, under lock: AdvisoryLock) throws(ProtectionError) {
        observer("read")
        guard lock.isCurrent else { throw Self.overtaken }
        observer("write")
        try file.write(Data(String(number).utf8))
        guard lock.isCurrent else { throw Self.overtaken }
    }

    private static var overtaken: ProtectionError {
        ProtectionError(.stateUnwritable, "another process changed the counter meanwhile")
    }

    /// The number in a file, 0 where there is none; nil where what is there is no number.
    private func number(in file: StateFile) throws(ProtectionError) -> Int64? {
        guard let bytes = try file.read(atMost: Self.longest) else { return 0 }
        return Int64(String(decoding: bytes, as: UTF8.self)).flatMap { $0 < 0 ? nil : $0 }
    }
}

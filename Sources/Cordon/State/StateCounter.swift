public import Foundation

/// Numbers that only rise, kept apart from the data folder, so that an older copy of that folder is recognised
/// (SRV-CI-085).
///
/// Keep them where a copy of the app's data does not reach: beside the device's root key. Any thread may call.
public protocol StateCounter: Sendable {
    /// The highest number noted under a name, 0 where none was; throws when that cannot be told.
    func value(of name: String) throws -> Int64
    /// Notes a number; one that is not higher changes nothing.
    func raise(_ name: String, to number: Int64) throws
}

/// Numbers in small files of mode 0600.
public struct FileStateCounter: StateCounter {
    private let folder: StateFolder

    /// Keeps them in a folder, made where needed.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public init(directory: URL) throws(ProtectionError) {
        folder = try StateFolder(directory)
    }

    /// The highest number noted under a name.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnreadable`, also for a file that holds no number.
    public func value(of name: String) throws(ProtectionError) -> Int64 {
        guard let bytes = try folder.file(name).read() else { return 0 }
        guard let number = Int64(String(decoding: bytes, as: UTF8.self)) else {
            throw ProtectionError(.stateUnreadable, "a state counter is damaged")
        }
        return number
    }

    /// Notes a number, durably.
    ///
    /// - Throws: ``ProtectionError``: `stateUnwritable`; `stateUnreadable` where the number before cannot be told, because
    ///   the new one may be lower.
    public func raise(_ name: String, to number: Int64) throws(ProtectionError) {
        try StateLock.exclusively(folder.lock) { () throws(ProtectionError) in
            guard number > (try value(of: name)) else { return }
            try folder.file(name).write(Data(String(number).utf8))
        }
    }
}

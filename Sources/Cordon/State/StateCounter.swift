public import Foundation

/// Numbers that only rise, kept apart from the data folder, so that an older copy of that folder is recognised
/// (SRV-CI-085).
///
/// Keep them where a copy of the app's data does not reach: beside the device's root key. Any thread may call.
public protocol StateCounter: Sendable {
    /// The highest number noted under a name, 0 where none was.
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
    /// - Throws: ``ProtectionError`` with code `stateUnreadable`.
    public func value(of name: String) throws(ProtectionError) -> Int64 {
        guard let bytes = try folder.file(name).read() else { return 0 }
        return Int64(String(decoding: bytes, as: UTF8.self)) ?? 0
    }

    /// Notes a number, durably.
    ///
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public func raise(_ name: String, to number: Int64) throws(ProtectionError) {
        try FileLock.exclusively(folder.lock) { () throws(ProtectionError) in
            guard number > (try value(of: name)) else { return }
            try folder.file(name).write(Data(String(number).utf8))
        }
    }
}

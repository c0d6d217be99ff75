internal import CordonIdentity
internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The plaintext of a file, sealed or not, read from the beginning; opened once, so that all of it is of one file.
final class PlainSource {
    let place: URL
    /// The owner that a sealed file names.
    let owner: AccountID?

    private let device: PosixFile
    private let sealed: SealedFile?
    private let isConsumed: Bool
    private var stamp: PosixFile.Stamp

    /// - Parameter consuming: take a sealed file's writer's lock, because the file will be gone.
    init(_ path: URL, in vault: isolated Vault, consuming: Bool) throws(VaultError) {
        guard let device = try PosixFile.open(path.path, writing: false) else {
            throw VaultError(.noSuchFile, "There is no file.", place: path.path)
        }
        do {
            stamp = try device.stamp()
            owner = try Self.owner(of: device)
            if consuming, owner != nil { try device.lockForWriting() }
            sealed = owner == nil ? nil : try vault.sealedFile(on: device, at: path)
        } catch {
            device.close()
            throw error
        }
        self.device = device
        place = path
        isConsumed = consuming
    }

    /// Bytes of plaintext in a chunk of a sealed file; nil for a readable one.
    var chunkSize: Int? { sealed?.chunkSize }

    func mode() throws(VaultError) -> mode_t { try device.mode() }

    /// How many names the file has.
    func names() throws(VaultError) -> Int { try device.names() }

    /// Begins again with what the file is now.
    func begin() throws(VaultError) {
        stamp = try device.stamp()
        _ = try sealed?.refresh()
    }

    /// What is read of a sealed file is of one commit; a readable one is looked at.
    ///
    /// - Throws: `overtaken` when a readable file was written to since the beginning.
    func checkUnchanged() throws(VaultError) {
        if sealed != nil { return }
        guard try device.stamp() == stamp else {
            throw VaultError(.overtaken, "The file was written to meanwhile.", place: place.path)
        }
    }

    /// Whether the writer's lock of what is at the target is held here.
    ///
    /// - Throws: `inUse` when the source is to be gone and another file was put in its place meanwhile.
    func isLocked(at target: URL) throws(VaultError) -> Bool {
        guard isConsumed else { return false }
        guard try device.isAt(place.path) else {
            throw VaultError(.inUse, "The file was replaced meanwhile.", place: place.path)
        }
        return owner != nil && place.isSameEntry(as: target)
    }

    /// Gives the file and its lock back.
    func close() {
        try? sealed?.close()
        device.close()
    }

    func read(_ memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int {
        guard let sealed else { return try device.read(memory, at: offset) }
        return try sealed.read(into: memory, at: offset)
    }

    private static func owner(of device: PosixFile) throws(VaultError) -> AccountID? {
        do {
            return try SealedHeader(of: device).owner
        } catch {
            if error.code == .notSealed { return nil }
            throw VaultError(error.code, error.reason, place: device.path, hint: error.hint)
        }
    }
}

internal import CordonBase
internal import Crypto
internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import CoreFoundation
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Which program a process runs: the file behind `/proc/PID/exe`, which a renamed or replaced file cannot imitate.
struct ProgramIdentity: Sendable, Hashable {
    let device: UInt64
    let inode: UInt64
    let owner: UInt32
    let size: Int64
    let changed: Int64
    /// When the process started, in the system's ticks: a process id that was used again has another (SI-190).
    let started: UInt64

    /// What runs under the process id now; nil when there is no such process or the system does not tell.
    static func now(_ process: Int32) -> ProgramIdentity? {
        guard let started = startTime(of: process) else { return nil }
        guard let found = file(of: process, started: started), startTime(of: process) == started else { return nil }
        return found
    }

    private static func file(of process: Int32, started: UInt64) -> ProgramIdentity? {
        var facts = stat()
        guard stat("/proc/\(process)/exe", &facts) == 0 else { return nil }
        #if canImport(Darwin)
            let changed = facts.st_ctimespec
        #else
            let changed = facts.st_ctim
        #endif
        return ProgramIdentity(
            device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino), owner: facts.st_uid, size: Int64(facts.st_size),
            changed: Int64(changed.tv_sec) * 1_000_000_000 + Int64(changed.tv_nsec), started: started)
    }

    /// Whether the process runs this file, whenever it started.
    func isFile(of process: Int32) -> Bool { Self.file(of: process, started: started) == self }

    /// The same program in the same process, for the check at every request.
    func stillRuns(as process: Int32) -> Bool { Self.now(process) == self }

    /// The 22nd field of `/proc/PID/stat`; the second may hold spaces and brackets, so counting begins after it.
    private static func startTime(of process: Int32) -> UInt64? {
        let descriptor = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0, let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = buffer[(end + 1)..<count].split(separator: UInt8(ascii: " "))
        guard fields.count > 19 else { return nil }
        return UInt64(String(decoding: fields[19], as: UTF8.self))
    }
}

/// The digests of program files, each read once: the file's own facts say when it must be read again.
final class ProgramDigests: Sendable {
    private struct Key: Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let changed: Int64
    }

    private let known = Locked<[Key: String]>([:])
    private static let most = 256

    /// Path and digest of the program; nil when it changed meanwhile or cannot be read.
    ///
    /// - Parameter isWanted: Whether anybody asks for the digest of a program at the path. Of others it stays empty: a
    ///   stranger's program may be as large as it likes, and reading it would hold up everybody.
    func facts(
        of program: ProgramIdentity, process: Int32, isWanted: (String) -> Bool = { _ in true }
    ) -> (path: String, digest: String)? {
        let link = "/proc/\(process)/exe"
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: link) else { return nil }
        guard isWanted(path) else { return program.stillRuns(as: process) ? (path, "") : nil }
        let key = Key(device: program.device, inode: program.inode, size: program.size, changed: program.changed)
        if let digest = known.withLock({ $0[key] }) { return program.stillRuns(as: process) ? (path, digest) : nil }
        // Through the link, so that the file read is the one that runs, whatever lies at the path by now.
        guard let digest = Self.digest(of: link), program.stillRuns(as: process) else { return nil }
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[key] = digest
        }
        return (path, digest)
    }

    private static func digest(of file: String) -> String? {
        guard let handle = FileHandle(forReadingAtPath: file) else { return nil }
        defer { try? handle.close() }
        var hash = SHA256()
        do {
            while let part = try handle.read(upToCount: 1 << 20), !part.isEmpty { hash.update(data: part) }
        } catch { return nil }
        return hash.finalize().map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

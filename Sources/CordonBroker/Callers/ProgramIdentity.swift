internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import CoreFoundation
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

#if canImport(CDispatch)
    internal import CDispatch
#endif

/// Which program a process runs: the file behind `/proc/PID/exe`, which a renamed or replaced file cannot imitate.
struct ProgramIdentity: Sendable, Hashable {
    let file: RememberedFile
    /// When the process started, in the system's ticks: a process id that was used again has another (SI-190).
    let started: UInt64

    /// What runs under the process id now; nil when there is no such process or the system does not tell.
    static func now(_ process: Int32) -> ProgramIdentity? {
        guard let started = startTime(of: process) else { return nil }
        guard let file = file(of: process), startTime(of: process) == started else { return nil }
        return ProgramIdentity(file: file, started: started)
    }

    /// The file behind the link, without asking the file system that it lies in.
    private static func file(of process: Int32) -> RememberedFile? { RememberedFile(link(to: process)) }

    /// The link to the file that a process runs, whatever lies at the program's path by now.
    static func link(to process: Int32) -> String { "/proc/\(process)/exe" }

    /// The path that the process sees its program at, which proves nothing: in a mount namespace of its own it sees any.
    static func path(of process: Int32) -> String? {
        var text = [CChar](repeating: 0, count: 4_096)
        let count = readlink(link(to: process), &text, text.count)
        guard count > 0, count < text.count else { return nil }
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether these are the facts of this program's file, whatever its size and age: device, inode and owner.
    func isFile(_ facts: stat) -> Bool {
        let other = RememberedFile(facts)
        return other.device == file.device && other.inode == file.inode && other.owner == file.owner
    }

    /// Whether the process runs this file, whenever it started.
    func isFile(of process: Int32) -> Bool { Self.file(of: process) == file }

    /// The same program in the same process, for the check at every request.
    func stillRuns(as process: Int32) -> Bool { Self.now(process) == self }

    /// The 22nd field of `/proc/PID/stat`; the second may hold spaces and brackets, so counting begins after it.
    static func startTime(of process: Int32) -> UInt64? {
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

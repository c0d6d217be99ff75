internal import CordonBase
internal import CordonIdentity
internal import Crypto
internal import Dispatch
internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The digests of program files, each read once: the file's own facts say when it must be read again.
///
/// Files are read one after the other on a queue of their own, so that no other client waits for a large one.
final class ProgramDigests: Sendable {
    private struct Key: Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let changed: Int64

        init(_ program: ProgramIdentity) {
            (device, inode, size, changed) = (program.device, program.inode, program.size, program.changed)
        }
    }

    private let known = Locked<[Key: String]>([:])
    private let queue = DispatchQueue(label: "cordon.broker.digests")
    private static let most = 256
    /// The largest file that is read, in bytes.
    let largest: Int64

    init(largest: Int64 = 1 << 30) {
        self.largest = largest
    }

    /// SHA-256 of the file that the process runs, hexadecimal; nil when it is another file by now, cannot be read, or is
    /// larger than ``largest``.
    func digest(of program: ProgramIdentity, process: Int32) async -> String? {
        guard program.size <= largest else { return nil }
        let key = Key(program)
        if let digest = known.withLock({ $0[key] }) { return digest }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.read(program, process, key)) }
        }
    }

    /// SHA-256 of the file that lies at a path now; nil where it cannot be read, or is larger than ``largest``.
    func digest(ofFileAt path: String) async -> String? {
        await withCheckedContinuation { continuation in
            queue.async {
                let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
                defer { if descriptor >= 0 { close(descriptor) } }
                let size = Int64(lseek(descriptor, 0, SEEK_END))
                let isReadable =
                    descriptor >= 0 && size >= 0 && size <= self.largest && lseek(descriptor, 0, SEEK_SET) == 0
                continuation.resume(returning: isReadable ? Self.digest(of: descriptor, size) : nil)
            }
        }
    }

    /// SHA-256 of so many bytes of an open file, hexadecimal; nil where there are fewer.
    private static func digest(of descriptor: Int32, _ size: Int64) -> String? {
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        var hash = SHA256()
        var left = size
        while left > 0 {
            guard let part = try? handle.read(upToCount: Int(min(left, 1 << 20))), !part.isEmpty else { return nil }
            hash.update(data: part)
            left -= Int64(part.count)
        }
        return hash.finalize().map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    private func read(_ program: ProgramIdentity, _ process: Int32, _ key: Key) -> String? {
        // Others may have asked for the same file while this one waited.
        if let digest = known.withLock({ $0[key] }) { return digest }
        // Through the link, so that the file read is the one that runs, whatever lies at the path by now.
        let descriptor = open("/proc/\(process)/exe", O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard program.isFile(descriptor), let digest = Self.digest(of: descriptor, program.size),
            program.isFile(descriptor)
        else { return nil }
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[key] = digest
        }
        return digest
    }
}

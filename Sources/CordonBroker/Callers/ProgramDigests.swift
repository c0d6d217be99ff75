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
    private let known = Locked<[RememberedFile: String]>([:])
    private let queue = DispatchQueue(label: "cordon.broker.digests")
    private static let most = 256
    /// The largest file that is read, in bytes.
    let largest: Int64

    init(largest: Int64 = 1 << 30) {
        self.largest = largest
    }

    /// SHA-256 of a file, hexadecimal; nil when another one lies there, it cannot be read, or it is larger than ``largest``.
    func digest(of file: RememberedFile, at path: String) async -> String? {
        guard file.size <= largest else { return nil }
        if let digest = known.withLock({ $0[file] }) { return digest }
        return await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.read(file, at: path)) }
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
        return hash.finalize().hex
    }

    private func read(_ file: RememberedFile, at path: String) -> String? {
        // Others may have asked for the same file while this one waited.
        if let digest = known.withLock({ $0[file] }) { return digest }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard RememberedFile(descriptor: descriptor) == file, let digest = Self.digest(of: descriptor, file.size),
            RememberedFile(descriptor: descriptor) == file
        else { return nil }
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[file] = digest
        }
        return digest
    }
}

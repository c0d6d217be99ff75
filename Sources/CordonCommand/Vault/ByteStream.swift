import CordonBase
import Foundation

/// A file or a standard stream, read or written from its beginning to its end.
struct ByteStream {
    private let descriptor: Int32
    private let name: String
    private let ownsDescriptor: Bool

    /// Opens a file to read; `-` is standard input.
    static func reading(_ name: String) throws -> ByteStream {
        if name == "-" { return ByteStream(descriptor: STDIN_FILENO, name: "standard input", ownsDescriptor: false) }
        let descriptor = open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure(.badInput, "\(name): \(Self.systemReason)") }
        return ByteStream(descriptor: descriptor, name: name, ownsDescriptor: true)
    }

    /// Makes a file of mode 0600 to write; `-` is standard output.
    ///
    /// - Parameter shown: What errors call the file, where that is not its path.
    static func writing(_ path: String, as shown: String? = nil) throws -> ByteStream {
        if path == "-" { return ByteStream(descriptor: STDOUT_FILENO, name: "standard output", ownsDescriptor: false) }
        let name = shown ?? path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandFailure(.writeFailed, "\(name): \(Self.systemReason)") }
        return ByteStream(descriptor: descriptor, name: name, ownsDescriptor: true)
    }

    /// Reads until the memory is full or the input ends.
    func read(_ memory: UnsafeMutableRawBufferPointer) throws -> Int {
        var done = 0
        while done < memory.count, let base = memory.baseAddress {
            let got = Foundation.read(descriptor, base + done, memory.count - done)
            if got < 0 && errno == EINTR { continue }
            if got < 0 { throw CommandFailure(.badInput, "\(name): \(Self.systemReason)") }
            if got == 0 { break }
            done += got
        }
        return done
    }

    /// Writes all the bytes; to a terminal so that it obeys none of them. There a character that two calls share is shown as unreadable.
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if descriptor == STDOUT_FILENO, isatty(descriptor) == 1 {
            Terminal.data(bytes: Data(bytes))
            guard let loss = Terminal.lossOfData else { return }
            throw CommandFailure(.writeFailed, "\(name): \(loss)")
        }
        var done = 0
        while done < bytes.count, let base = bytes.baseAddress {
            let put = Foundation.write(descriptor, base + done, bytes.count - done)
            if put < 0 && errno == EINTR { continue }
            if put <= 0 { throw CommandFailure(.writeFailed, "\(name): \(Self.systemReason)") }
            done += put
        }
    }

    /// Writes all that another one still has.
    func take(_ source: ByteStream) throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
        defer { memory.deallocate() }
        while true {
            let count = try source.read(memory)
            if count == 0 { return }
            try write(UnsafeRawBufferPointer(rebasing: memory[..<count]))
        }
    }

    /// The length of a file; nil for a pipe or terminal.
    var length: Int64? {
        let here = lseek(descriptor, 0, SEEK_CUR)
        guard here >= 0 else { return nil }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0, lseek(descriptor, here, SEEK_SET) == here else { return nil }
        return Int64(end)
    }

    /// Makes a written file durable and gives it back.
    func close() throws {
        guard ownsDescriptor else { return }
        let synced = DurableFile.flush(descriptor, .bytes) || errno == EINVAL || errno == EROFS
        guard Foundation.close(descriptor) == 0, synced else {
            throw CommandFailure(.writeFailed, "\(name): \(Self.systemReason)")
        }
    }

    private static var systemReason: String { String(cString: strerror(errno)) }
}

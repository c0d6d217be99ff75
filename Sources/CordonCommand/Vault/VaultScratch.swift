import CordonBase
import Foundation

/// A name beside the output under which the work is done, so that the output appears whole or not at all.
struct VaultScratch {
    /// Where to work.
    let path: String
    private let output: String
    private let folder: String?

    /// For a file, a name beside it; for standard output, a private folder.
    init(for output: String) throws {
        self.output = output
        let name = ".cordon-\(UUID().uuidString).tmp"
        if output != "-" {
            folder = nil
            path = URL(fileURLWithPath: output).deletingLastPathComponent().appendingPathComponent(name).path
            return
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-" + UUID().uuidString).path
        guard mkdir(folder, 0o700) == 0 else {
            throw CommandFailure(.writeFailed, "\(folder): no temporary folder can be made")
        }
        self.folder = folder
        path = folder + "/" + name
    }

    /// Puts the finished work in place: under the output's name, or onto standard output.
    func deliver() throws {
        if output != "-" {
            guard rename(path, output) == 0 else {
                throw CommandFailure(.writeFailed, "\(output): \(String(cString: strerror(errno)))")
            }
            do {
                try DurableFile.synchronize(URL(fileURLWithPath: output).deletingLastPathComponent())
            } catch { throw CommandFailure(.writeFailed, "\(output): \(String(cString: strerror(error.number)))") }
            return
        }
        let source = try ByteStream.reading(path)
        defer { try? source.close() }
        let target = try ByteStream.writing("-")
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4096)
        defer { memory.deallocate() }
        while true {
            let count = try source.read(memory)
            if count == 0 { return }
            try target.write(UnsafeRawBufferPointer(rebasing: memory[..<count]))
        }
    }

    /// Removes what is left of the work.
    func remove() {
        unlink(path)
        if let folder { rmdir(folder) }
    }
}

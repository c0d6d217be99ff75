import CordonBase
import Foundation

/// A private folder beside the output in which the work is done, so that the output appears whole or not at all.
struct VaultScratch {
    private let output: String
    private let folder: ScratchFolder

    /// Where the output is made.
    var path: String { folder.url.appending(path: "output").path }
    /// Where standard input is kept.
    var spool: String { folder.url.appending(path: "input").path }

    /// For a file, a folder beside it; for standard output, one among the temporary ones.
    ///
    /// - Throws: ``CommandFailure``: `refused` where the output would take the place of something else than a file.
    init(for output: String) throws {
        self.output = output
        guard output != "-" else {
            folder = try ScratchFolder()
            return
        }
        let file = URL(fileURLWithPath: output)
        guard !DurableFile.isOtherThanFile(file) else {
            throw CommandFailure(
                .refused, "\(output): this is not an ordinary file, and would be replaced",
                hint: "Name a file, or - for standard output.")
        }
        do { folder = try ScratchFolder(in: file.deletingLastPathComponent()) } catch {
            throw CommandFailure(
                .writeFailed, "\(output): nothing can be made beside it", hint: "Check its folder and the permissions.")
        }
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
        try ByteStream.writing("-").take(source)
    }

    /// Removes what is left of the work.
    func remove() { folder.remove() }
}

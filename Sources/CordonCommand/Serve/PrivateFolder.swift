import CordonBase
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A folder that only its owner can look into, and files in it that only the owner can read.
struct PrivateFolder {
    let url: URL

    /// Makes the folder where it is missing, and tries whether it can be written.
    ///
    /// - Throws: ``CommandFailure`` with status `writeFailed`.
    init(_ url: URL) throws(CommandFailure) {
        self.url = url
        do {
            try DurableFile.makeFolder(url)
        } catch {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue else {
                throw Self.failure(url)
            }
            throw CommandFailure(.writeFailed, "\(url.path) is a file, not a folder", hint: "choose another place")
        }
        let probe = url.appending(path: ".cordon-\(UUID().uuidString)")
        let descriptor = open(probe.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(url) }
        close(descriptor)
        unlink(probe.path)
    }

    /// Writes a new file with mode 0600; an existing one is replaced as a whole.
    ///
    /// - Throws: ``CommandFailure`` with status `writeFailed`.
    func write(_ text: String, to name: String) throws(CommandFailure) {
        let file = url.appending(path: name)
        do { try DurableFile.replace(file, with: Data(text.utf8)) } catch {
            throw Self.failure(file)
        }
    }

    private static func failure(_ place: URL) -> CommandFailure {
        CommandFailure(
            .writeFailed, "\(place.path) cannot be written",
            hint: "make it with write permission for this user, or choose another folder")
    }
}

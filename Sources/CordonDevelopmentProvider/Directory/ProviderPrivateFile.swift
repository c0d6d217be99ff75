import CordonBase
import CordonProtocol
import Foundation

/// Files with secrets: readable by their owner only, replaced as a whole.
enum ProviderPrivateFile {
    static func read(_ file: URL, atMost limit: Int) throws(ProgramError) -> Data {
        do { return try DurableFile.readPrivate(file, limit: limit) } catch {
            switch error.number {
            case EPERM:
                throw ProgramError(
                    .fileNotPrivate, reason: "other users of this machine may read or change this file",
                    place: file.path, hint: "chmod 600 \(file.path)")
            case EINVAL: throw unreadable(file, "is not a regular file")
            case EFBIG: throw unreadable(file, "is larger than \(limit) bytes")
            default: throw unreadable(file, "cannot be opened: \(String(cString: strerror(error.number)))")
            }
        }
    }

    static func write(_ bytes: Data, to file: URL) throws(ProgramError) {
        do { try DurableFile.replace(file, with: bytes) } catch {
            throw ProgramError(
                .fileUnwritable, reason: String(cString: strerror(error.number)), place: file.path,
                hint: "check the folder, its permissions and its free space")
        }
    }

    private static func unreadable(_ file: URL, _ reason: String) -> ProgramError {
        ProgramError(
            .fileUnreadable, reason: reason, place: file.path, hint: "check the path and its permissions")
    }
}

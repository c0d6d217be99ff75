import CordonProtocol
import Foundation

/// A file with a secret, which only its owner and group may read.
enum SecretFile {
    /// Its text. A link counts as the file that it leads to: what renews secrets often changes a link.
    ///
    /// - Parameter secret: What is in it, as the reason says it.
    /// - Throws: ``ProgramError`` with code `configurationInvalid`.
    static func text(of file: URL, with secret: String, hint: String) throws(ProgramError) -> String {
        func unusable(_ reason: String) -> ProgramError {
            ProgramError(.configurationInvalid, reason: reason, place: file.path, hint: hint)
        }
        let path = file.resolvingSymlinksInPath().path
        let mode = (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? NSNumber
        guard mode.map({ $0.intValue & 0o007 == 0 }) ?? true else {
            throw unusable("every user of this machine may read or change \(secret)")
        }
        guard mode != nil, let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw unusable("\(secret) cannot be read")
        }
        return text
    }
}

import Cordon
import CordonIdentity
import Foundation

/// The notes of one identity: an organisation's in Cordon's sealed files, personal ones in plain files.
struct Notebook {
    let owner: Identity
    let protection: AppProtection?
    let home: URL

    /// The titles, in order.
    func titles() async throws -> [String] {
        switch owner {
        case .managed(let account): try await vaulted().files.names(of: account)
        case .personal:
            // Other programs may have put something else there, and a write that was cut off its draft.
            ((try? FileManager.default.contentsOfDirectory(atPath: personal.path)) ?? []).sorted()
                .filter { (try? file($0))?.isRegularFile == true }
        }
    }

    /// The note's contents.
    func read(_ title: String) async throws -> Data {
        switch owner {
        case .managed(let account):
            do { return try await vaulted().files.read(title, of: account) } catch let error as ProtectionError {
                throw error.code == .nothingThere ? missing(title) : error
            }
        case .personal:
            let file = try file(title)
            guard file.isRegularFile, let contents = FileManager.default.contents(atPath: file.path) else {
                throw missing(title)
            }
            return contents
        }
    }

    private func missing(_ title: String) -> any Error {
        Problem("there is no note called \(title)", hint: "Type `notes` for the titles.")
    }

    /// Writes a note, over an older one of the title.
    func write(_ contents: Data, as title: String) async throws {
        switch owner {
        case .managed(let account): try await vaulted().files.write(contents, as: title, of: account)
        case .personal:
            try FileManager.default.createDirectory(at: personal, withIntermediateDirectories: true)
            try contents.write(to: file(title), options: .atomic)
        }
    }

    private var personal: URL { home.appending(path: "personal-notes") }

    private func file(_ title: String) throws -> URL {
        // A path ends at a NUL, and would be another note's. A slash divides one also below an accent, with which it is one character.
        let scalars = title.unicodeScalars
        guard let first = scalars.first, first != ".", !scalars.contains(where: { $0 == "/" || $0 == "\0" }) else {
            throw Problem("a title has no slash and no NUL, and does not begin with a dot")
        }
        return personal.appending(path: title)
    }

    private func vaulted() throws -> AppProtection {
        guard let protection else { throw Problem("there is no service, so no organisation's notes") }
        return protection
    }
}

internal import CordonIdentity
internal import Crypto
internal import Foundation

/// Which account owns files that are not sealed: a small file per path in the vault's directory. A sealed file names its
/// owner itself and needs no entry.
struct OwnerRegister: Sendable {
    let directory: URL

    private struct Entry: Codable {
        let path: String
        let owner: AccountID
    }

    /// Notes the owner of a path; nil forgets it.
    func setOwner(_ owner: AccountID?, of path: URL) throws(VaultError) {
        let place = entryPath(path)
        guard let owner else {
            PosixFile.remove(place)
            return
        }
        try PosixFile.makeDirectory(directory.path)
        let entry = Entry(path: path.standardizedFileURL.path, owner: owner)
        guard let bytes = try? JSONEncoder().encode(entry) else {
            throw VaultError(.inputOutput, "An owner cannot be noted.", place: path.path)
        }
        try PosixFile.replace(place, with: Array(bytes))
    }

    /// The owner noted for a path.
    func owner(of path: URL) -> AccountID? {
        read(entryPath(path)).map(\.owner)
    }

    /// Every noted path of an account, also of files that are gone.
    func paths(ownedBy owner: AccountID) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.compactMap { read(directory.appendingPathComponent($0).path) }
            .filter { $0.owner == owner }.map { URL(fileURLWithPath: $0.path) }
    }

    private func read(_ place: String) -> Entry? {
        guard let bytes = try? PosixFile.contents(place, limit: 1 << 16) else { return nil }
        return try? JSONDecoder().decode(Entry.self, from: Data(bytes))
    }

    private func entryPath(_ path: URL) -> String {
        let name = Array(SHA256.hash(data: Data(path.standardizedFileURL.path.utf8))).prefix(16).hex
        return directory.appendingPathComponent(name + ".json").path
    }
}

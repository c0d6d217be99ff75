internal import Foundation

/// Keys of sessions that no file is sealed with any more: what a kill in the midst of a sign-in leaves in the secret store.
///
/// A secret store may hold the keys of other apps' caches too, so nothing is looked for there: every key whose session is about
/// to begin or to be replaced is marked in the cache's own folder first.
extension TokenCache {
    private static let marked = "changing"

    /// Notes that a session's key is about to come or to go.
    func mark(_ session: UUID) throws(SignInError) {
        try TokenStoreFile.replace(file(session.uuidString, Self.marked), with: Data())
    }

    /// The key is where it belongs.
    func unmark(_ session: UUID) throws(SignInError) {
        try TokenStoreFile.remove(file(session.uuidString, Self.marked))
    }

    /// Destroys marked keys that no session uses. What cannot be told or destroyed now is tried at the next start.
    func collectOrphans() {
        let suffix = "." + Self.marked
        guard let marks = try? names().filter({ $0.hasSuffix(suffix) }), !marks.isEmpty else { return }
        try? locked { () throws(SignInError) in
            var used: Set<UUID> = []
            for name in try names() where name.hasSuffix(".session") {
                let head = try TokenStoreFile.head(of: file(String(name.dropLast(8)), "session"), SealedHeader.size)
                if let header = head.flatMap({ SealedHeader($0) }) { used.insert(header.id) }
            }
            for mark in marks {
                guard let session = UUID(uuidString: String(mark.dropLast(suffix.count))) else { continue }
                if !used.contains(session) { try secret(of: session).destroy() }
                try unmark(session)
            }
        }
    }
}

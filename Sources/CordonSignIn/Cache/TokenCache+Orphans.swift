internal import Foundation

/// What a kill in the midst of a sign-in or a sign-out leaves: keys that no file is sealed with any more, and files whose key is gone.
///
/// A secret store may hold the keys of other apps' caches too, so nothing is looked for there: every key whose session is about
/// to begin or to be replaced is marked in the cache's own folder first, and a session's file is the last that goes at its end.
extension TokenCache {
    private static let marked = "changing"

    /// Notes that a session's key is about to come or to go.
    ///
    /// - Parameter name: The account's.
    func mark(_ session: UUID, of name: String) throws(SignInError) {
        try TokenStoreFile.replace(file(session.uuidString, Self.marked), with: Data(name.utf8))
    }

    /// The key is where it belongs.
    func unmark(_ session: UUID) throws(SignInError) {
        try TokenStoreFile.remove(file(session.uuidString, Self.marked))
    }

    /// Destroys marked keys that no session uses, ends sessions whose key is gone, and notes which sessions an account has where a
    /// version before did not. What cannot be told or done now is tried at the next start.
    func finishInterruptedWork() {
        guard let names = try? names() else { return }
        // A kill may have left the draft of a mark alone: it says whose session was about to begin.
        let marks = Set(names.map(TokenStoreFile.name)).filter { $0.hasSuffix("." + Self.marked) }
        let sessions = names.filter { $0.hasSuffix(".session") }.map { String($0.dropLast(8)) }
        if !marks.isEmpty { try? locked { () throws(SignInError) in try collectOrphans(marks) } }
        for name in sessions where (try? isSettled(name)) == false {
            try? locked { () throws(SignInError) in try settle(name) }
        }
    }

    /// Ends what lies in the folder and opens as no session of the owner: those of other clients, and what is damaged. For a cache that no other
    /// client uses.
    func endOthers(than owner: CacheOwner) throws(SignInError) {
        try locked { () throws(SignInError) in
            for listed in try names() where listed.hasSuffix(".session") {
                let name = String(listed.dropLast(8))
                guard let bytes = try TokenStoreFile.readListed(file(name, "session"), limit: Self.largestFile),
                    try usable(bytes, name, owner: owner) == nil
                else { continue }
                _ = try end(name)
            }
        }
    }

    private func collectOrphans(_ marks: Set<String>) throws(SignInError) {
        var used: Set<UUID> = []
        for name in try names() where name.hasSuffix(".session") {
            let head = try TokenStoreFile.head(of: file(String(name.dropLast(8)), "session"), SealedHeader.size)
            if let header = head.flatMap({ SealedHeader($0) }) { used.insert(header.id) }
        }
        for mark in marks {
            let stem = String(mark.dropLast(Self.marked.count + 1))
            guard let session = UUID(uuidString: stem) else { continue }
            if !used.contains(session) { try secret(of: session).destroy() }
            // Versions before left the mark empty.
            if let name = try TokenStoreFile.read(file(stem, Self.marked), limit: 64), !name.isEmpty {
                try nameAgain(String(decoding: name, as: UTF8.self))
            }
            try unmark(session)
        }
    }

    /// After an interrupted change, records the one session that the account has, or that it has none. An account with a session
    /// is not signed out.
    private func nameAgain(_ name: String) throws(SignInError) {
        let ending = try namedSessions(name) ?? []
        guard let session = try sessionInFile(name) else {
            // The file may be elsewhere for a while: as long as there is a key, the account must name it.
            for other in ending where try !secret(of: other).isGone() { return }
            return try forgetSessions(of: name)
        }
        if ending != [session] { try nameSessions([session], of: name) }
        if try !secret(of: session).isGone() { try unmarkSignedOut(name) }
    }

    /// Whether a session has its key and is among those that its account names.
    private func isSettled(_ name: String) throws(SignInError) -> Bool {
        guard let session = try sessionInFile(name) else { return true }
        guard try !secret(of: session).isGone() else { return false }
        return try namedSessions(name)?.contains(session) == true
    }

    private func settle(_ name: String) throws(SignInError) {
        guard try !isSettled(name), let session = try sessionInFile(name) else { return }
        guard try !secret(of: session).isGone() else {
            // The key is kept before the file is written, so it has been there and never comes back. Of a session that is neither named nor
            // marked in this store, another one may have the key.
            if try namedSessions(name) != nil || isMarkedSignedOut(name) { _ = try end(name) }
            return
        }
        try nameSessions((namedSessions(name) ?? []) + [session], of: name)
    }
}

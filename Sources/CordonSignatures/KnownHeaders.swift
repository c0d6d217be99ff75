internal import CordonBase
internal import Foundation

/// What the header of a signed text says, where it fits a profile.
struct TextHeader: Sendable {
    let algorithm: SignatureAlgorithm
    let type: String?
    let keyID: String?
    /// The key that the text brings along, where its profile is ``SignatureProfile/Key/embedded``.
    let embeddedKey: P256PublicKey?

    /// Reads a header.
    ///
    /// - Throws: ``TextFlaw``; the order of its kinds is that of the checks.
    init(_ bytes: Data, _ profile: SignatureProfile) throws(TextFlaw) {
        guard let members = try? JSONReader.members(of: bytes) else { throw TextFlaw(.malformed) }
        func member(_ name: String) throws(TextFlaw) -> String? {
            guard let content = members[name], !content.isNull else { return nil }
            guard let text = content.string else { throw TextFlaw(.malformed) }
            return text
        }
        guard let name = try member("alg") else { throw TextFlaw(.malformed) }
        let (type, keyID) = (try member("typ"), try member("kid"))
        guard let algorithm = SignatureAlgorithm(named: name), profile.algorithms.contains(algorithm) else {
            throw TextFlaw(.algorithm)
        }
        guard profile.accepts(type: type) else { throw TextFlaw(.type) }
        guard members["crit"]?.isNull ?? true else { throw TextFlaw(.critical) }
        embeddedKey = try Self.key(of: profile.key, keyID, members["jwk"])
        self.algorithm = algorithm
        self.type = type
        self.keyID = keyID
    }

    private static func key(
        of rule: SignatureProfile.Key, _ id: String?, _ embedded: JSONReader.Content?
    ) throws(TextFlaw) -> P256PublicKey? {
        let brings = embedded.map { !$0.isNull } ?? false
        switch rule {
        case .trusted: if id == nil || brings { throw TextFlaw(.key) }
        case .named: if id == nil { throw TextFlaw(.key) }
        case .namedOrOnly: break
        case .embedded:
            guard brings else { throw TextFlaw(.key) }
            guard case .object(let members) = embedded, let key = JWK(members).flatMap(P256PublicKey.init) else {
                throw TextFlaw(.malformed)
            }
            return key
        }
        return nil
    }
}

/// The headers of texts of one profile, as they were read last: all tokens of a provider begin with the same letters, and to compare
/// these costs a small part of reading them.
///
/// What a header says depends on its letters and the profile alone, so nothing here can be out of date. Bounded, and a stranger who
/// sends ever other headers makes it useless at most. May be used from any thread.
package final class KnownHeaders: Sendable {
    private struct Entry: Sendable {
        let letters: [UInt8]
        let header: TextHeader
    }

    private struct Entries: Sendable {
        var all: [Entry] = []
        /// The one that makes room next.
        var oldest = 0
    }

    /// The most headers: a few providers, each with the key before and the present one.
    private static let most = 8
    /// The most letters of one that is remembered; keys have short ids.
    private static let longest = 512

    let profile: SignatureProfile
    private let known = Locked(Entries())

    /// Remembers headers that fit a profile.
    package init(_ profile: SignatureProfile) { self.profile = profile }

    /// What some letters say, nil where they are not known.
    func header(_ letters: UnsafeBufferPointer<UInt8>) -> TextHeader? {
        guard letters.count <= Self.longest else { return nil }
        // Compared outside: what a caller's memory holds does not go into a lock.
        let all = known.withLock { $0.all }
        return all.firstIndex { Self.isSame($0.letters, letters) }.map { all[$0].header }
    }

    private static func isSame(_ known: [UInt8], _ letters: UnsafeBufferPointer<UInt8>) -> Bool {
        guard known.count == letters.count, let start = letters.baseAddress else { return known.count == letters.count }
        return memcmp(known, start, known.count) == 0
    }

    /// Remembers what some letters say.
    func remember(_ header: TextHeader, _ letters: some Sequence<UInt8>) {
        let entry = Entry(letters: Array(letters), header: header)
        guard entry.letters.count <= Self.longest else { return }
        known.withLock { known in
            guard known.all.count >= Self.most else { return known.all.append(entry) }
            known.all[known.oldest] = entry
            known.oldest = (known.oldest + 1) % Self.most
        }
    }
}

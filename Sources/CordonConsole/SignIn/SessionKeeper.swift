import CordonBase
import CordonIdentity
import CordonService
import CordonServiceHTTP
import Crypto
import Foundation
import Hummingbird

/// Keeps sessions in the store, each sealed under a key that only its cookie makes.
struct SessionKeeper: Sendable {
    /// How long an ended session is kept, so that what was filled in outlives it.
    static let keeping: TimeInterval = 24 * 3_600

    let sessions: ConsoleSessions
    let tenant: TenantID
    let cookies: ConsoleCookies
    let now: @Sendable () -> Date

    /// A session with the secret of its cookie.
    struct Held: Sendable {
        fileprivate let secret: String
        let session: ConsoleSession
    }

    /// The session of a browser, also one that has ended.
    func session(of request: Request) async throws -> Held? {
        guard let secret = cookies.value(.session, of: request), secret.utf8.count == 43 else { return nil }
        let id = Self.id(secret)
        guard let record = try await sessions.record(id, of: tenant),
            let session = SealedText.open(ConsoleSession.self, record.sealed, under: Self.key(secret), for: id)
        else { return nil }
        return Held(secret: secret, session: session)
    }

    /// Whether a session may still ask.
    func isActive(_ session: ConsoleSession) -> Bool { session.ends > now() }

    /// Whether a session is still one: a person who signed out, or in again, has ended it.
    func isKept(_ held: Held) async -> Bool {
        (try? await sessions.record(Self.id(held.secret), of: tenant)) != nil
    }

    /// Begins a session under a new name; the cookie to set.
    func begin(_ session: ConsoleSession, replacing old: Held?) async throws -> String {
        let held = Held(secret: SealedText.random(), session: session)
        // First kept, then ended, so that what was filled in is in one of them whatever fails.
        try await sessions.save(try Self.record(of: held), of: tenant)
        if let old { try await end(old) }
        return cookies.setting(.session, held.secret)
    }

    /// Changes a session as it is by then: other requests of it may have changed it meanwhile.
    ///
    /// - Returns: Whether it is still kept. One that was ended stays so: a request under way must not bring it back.
    func change(_ held: Held, _ body: @escaping @Sendable (inout ConsoleSession) -> Void) async throws -> Bool {
        let secret = held.secret
        return try await sessions.update(Self.id(secret), of: tenant) { record in
            guard
                var session = SealedText.open(
                    ConsoleSession.self, record.sealed, under: Self.key(secret), for: record.id)
            else { return nil }
            body(&session)
            return try Self.record(of: Held(secret: secret, session: session))
        }
    }

    func end(_ held: Held) async throws { try await sessions.remove(Self.id(held.secret), of: tenant) }

    private static func record(of held: Held) throws -> ConsoleSessionRecord {
        let id = id(held.secret)
        let sealed = try SealedText.seal(held.session, under: key(held.secret), for: id)
        return ConsoleSessionRecord(id: id, sealed: sealed, expires: held.session.ends.addingTimeInterval(keeping))
    }

    private static func id(_ secret: String) -> String {
        Base64URL.encode(Data(SHA256.hash(data: Data("cordon console id \(secret)".utf8))))
    }

    private static func key(_ secret: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Data(secret.utf8)), info: Data("cordon console seal".utf8),
            outputByteCount: 32)
    }
}

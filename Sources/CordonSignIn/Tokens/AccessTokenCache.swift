internal import CordonIdentity
internal import Foundation

/// The access tokens of a process, in memory only (SI-203).
struct AccessTokenCache: Sendable {
    private struct Entry: Sendable {
        let session: SessionID
        let resource: String?
        let token: AccessToken
        let obtained: Date
        let renewal: Date
    }
    private var entries: [AccountID: [Entry]] = [:]

    /// The longest a token is believed to live whatever the provider says, and how long when it says nothing.
    private static let longest: TimeInterval = 86_400
    private static let usual: TimeInterval = 300
    private static let mostPerAccount = 64

    /// How long a token of an answer lives.
    static func lifetime(_ seconds: Double?) -> TimeInterval {
        guard let seconds, seconds.isFinite else { return usual }
        return min(max(seconds, 0), longest)
    }

    /// Keeps a token. It is renewed `buffer` before its end, but never before half its life has passed.
    mutating func put(
        _ token: AccessToken, of account: AccountID, session: SessionID, resource: String?, now: Date, buffer: Duration
    ) {
        let lifetime = token.expires.timeIntervalSince(now)
        let early = min(TimeInterval(buffer.components.seconds), lifetime / 2)
        var kept = (entries[account] ?? []).filter {
            $0.session == session && $0.token.expires > now
                && !($0.resource == resource && Set($0.token.scopes).isSubset(of: token.scopes))
        }
        if kept.count >= Self.mostPerAccount { kept.removeFirst() }
        kept.append(
            Entry(
                session: session, resource: resource, token: token, obtained: now,
                renewal: token.expires.addingTimeInterval(-early)))
        entries[account] = kept
    }

    /// A token that is good for the request and not due for renewal; a clock set back far counts as due.
    func token(
        of account: AccountID, session: SessionID, resource: String?, scopes: [String], now: Date
    ) -> AccessToken? {
        entries[account]?.first {
            $0.session == session && $0.resource == resource && now < $0.renewal
                && now > $0.obtained.addingTimeInterval(-IDTokenCheck.leeway)
                && Set(scopes).isSubset(of: $0.token.scopes)
        }?.token
    }

    /// Any token of the session that is still good, for a provider that wants one to revoke with.
    func anyToken(of account: AccountID, now: Date) -> AccessToken? {
        entries[account]?.last { now < $0.token.expires }?.token
    }

    /// Forgets an account's tokens.
    mutating func remove(_ account: AccountID) {
        entries[account] = nil
    }
}

internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// Logs that an administrator asked for, and what became of that (SRV-CI-015).
struct LogOrder: Codable, Equatable, Sendable {
    /// How far it is.
    enum State: String, Codable, Sendable {
        /// The person has not been asked, or has not answered.
        case open
        /// The person agreed; what is sent waits in a file.
        case agreed
        /// Nothing is left to be done: sent, declined, or not wanted any more.
        case over
    }

    /// The account whose organisation asks.
    var account: AccountID
    /// What was asked for.
    var request: LogRequest
    /// How far it is.
    var state = State.open
    /// Whether the ledger tells of it.
    var isNoted = false
    /// The digest of what the person agreed to: nothing else is sent. Nil before, and in records of older versions.
    var agreed: String?

    /// The digest of what is sent.
    static func digest(of content: Data) -> String { Base64URL.encode(Data(SHA256.hash(data: content))) }

    /// Whether the service still takes anything.
    func isWanted(at now: Date) -> Bool { now.timeIntervalSince1970 < Double(request.notAfter) }
}

import CordonBase
import CordonIdentity
import Foundation
import Logging

/// Tells operators why tokens are refused and why a provider cannot be used: each reason at once, and after that at most
/// once a minute however often it comes.
///
/// Any client can send a bad token, so what is written is bounded, and nothing of a token is in it.
final class TokenRefusalLog: Sendable {
    /// How long a reason is not repeated, in seconds.
    static let pause: TimeInterval = 60
    /// The most reasons that are remembered; there are a few dozen for each provider.
    private static let most = 512

    private struct Told {
        var time: Date
        var keptBack = 0
    }

    private let logger: Logger
    private let now: @Sendable () -> Date
    private let told = Locked<[String: Told]>([:])

    init(logger: Logger, now: @escaping @Sendable () -> Date) {
        self.logger = logger
        self.now = now
    }

    /// Writes a refusal down.
    ///
    /// - Parameters:
    ///   - what: What was refused; always the same words.
    ///   - issuer: The provider as the configuration spells it, nil where none is known.
    func note(_ refusal: TokenRefusal, _ what: String, of issuer: String? = nil) {
        note(what, code: refusal.code.rawValue, reason: refusal.reason, hint: refusal.note, of: issuer)
    }

    /// Writes a refusal of another kind down.
    func note(_ what: String, code: String, reason: String, hint: String? = nil, of issuer: String? = nil) {
        let kind = [what, code, reason, hint ?? "", issuer ?? ""].joined(separator: "\n")
        guard let keptBack = admit(kind) else { return }
        var text = reason
        if let issuer { text += " (issuer \(issuer))" }
        if let hint { text += ": \(hint)" }
        if keptBack > 0 { text += "; \(keptBack) more since the last line like this" }
        logger.notice("\(what)", metadata: ["code": "\(code)", "reason": "\(text)"])
    }

    /// How many of a kind were kept back since the last one, nil when this one is to be kept back too.
    private func admit(_ kind: String) -> Int? {
        let moment = now()
        return told.withLock { told in
            // A clock that was set back must not silence the log.
            if var known = told[kind], abs(moment.timeIntervalSince(known.time)) < Self.pause {
                known.keptBack += 1
                told[kind] = known
                return nil
            }
            if told.count >= Self.most, told[kind] == nil {
                told = told.filter { abs(moment.timeIntervalSince($0.value.time)) < Self.pause }
                guard told.count < Self.most else { return nil }
            }
            let keptBack = told[kind]?.keptBack ?? 0
            told[kind] = Told(time: moment)
            return keptBack
        }
    }

    /// What a provider said, fit for a log: printable ASCII and not too long.
    static func plain(_ text: String) -> String {
        let bytes = text.utf8.prefix(200).map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: "?") }
        return String(decoding: bytes, as: UTF8.self) + (text.utf8.count > 200 ? "…" : "")
    }
}

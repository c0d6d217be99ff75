import CordonBase
import CordonPolicy
import Foundation
import HTTPTypes
import ServiceLifecycle

/// Fetches the security event tokens of a provider that keeps them until it is asked (RFC 8936).
///
/// A token is acknowledged once it has taken effect: one whose acknowledgement is lost comes again. What is refused is said to be and does
/// not come again; what cannot be judged at the moment is left for the next answer. Where an answer is too large to be read, fewer are asked for.
struct SecurityEventPoll: Sendable {
    /// The most tokens that are asked for at once; those of an answer with more count, too.
    static let mostEvents: Int64 = 100
    /// Before the next question. A question that the provider holds until there is news would need no pause, but what ends it in between,
    /// a proxy or a limit on either side, looks like a provider that is down.
    static let pause = Duration.seconds(5)
    /// Before the next question where the provider has more.
    static let pauseForMore = Duration.milliseconds(250)
    private static let longestPause = Duration.seconds(300)

    /// The provider, as the configuration spells it.
    let issuer: String
    let receiver: SecurityEventReceiver
    /// Posts a question, and brings the answer's body; nil where that is too large.
    let ask: @Sendable (_ question: Data) async -> Result<Data?, TokenRefusal>
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// What became of the tokens of the answer before.
    private struct Outcome {
        var taken: [String] = []
        var refused: [String: JSONValue] = [:]

        var settled: Set<String> { Set(taken).union(refused.keys) }

        func question(for most: Int64) -> Data {
            var members: [String: JSONValue] = ["maxEvents": .integer(most), "returnImmediately": true]
            if !taken.isEmpty { members["ack"] = .array(taken.map(JSONValue.string)) }
            if !refused.isEmpty { members["setErrs"] = .object(refused) }
            return Data(JSONValue.object(members).text().utf8)
        }
    }

    /// Asks until the task is cancelled.
    func run() async {
        var outcome = Outcome()
        var failures = 0
        var most = Self.mostEvents
        while !Task.isCancelled {
            let wait: Duration
            switch await ask(outcome.question(for: most)).flatMap({ Self.answer(in: $0, isOne: most == 1) }) {
            case .success(nil):
                most = max(1, most / 4)
                wait = Self.pauseForMore
            case .success(let answer?):
                failures = 0
                let before = outcome.settled
                outcome = await take(answer.tokens)
                // Where the same comes again, the provider does not hear what became of it.
                let isNew = !outcome.settled.isSubset(of: before)
                wait = (answer.hasMore || answer.tokens.count >= most) && isNew ? Self.pauseForMore : Self.pause
                // What was too large is gone, or will be.
                if isNew { most = min(2 * most, Self.mostEvents) }
            case .failure(let refusal):
                guard !Task.isCancelled else { return }
                // What became of the answer before is said with the next question.
                wait = min(Self.pause * (1 << min(failures, 6)), Self.longestPause)
                failures += 1
                receiver.events.refusals.note(refusal, "security events could not be fetched", of: issuer)
            }
            do { try await sleep(wait) } catch { return }
        }
    }

    /// Has tokens take effect, in any order: of what is said of an account, the latest counts.
    private func take(_ tokens: [String: JSONValue]) async -> Outcome {
        var outcome = Outcome()
        for (id, token) in tokens.sorted(by: { $0.key < $1.key }) {
            // The rest comes again after the next start.
            guard !Task.isCancelled else { break }
            do {
                try await receiver.take(token.string ?? "", from: issuer)
                outcome.taken.append(id)
            } catch {
                let refusal = SecurityEventProblem.refusal(of: error)
                guard refusal.status == .badRequest else { continue }
                receiver.events.refusals.note(
                    "a security event token was refused", code: refusal.code, reason: refusal.message, of: issuer)
                outcome.refused[id] = ["err": .string(refusal.code), "description": .string(refusal.message)]
            }
        }
        return outcome
    }

    private struct Answer {
        /// By their ids.
        var tokens: [String: JSONValue]
        var hasMore: Bool
    }

    /// What an answer says; nil where it is too large, and fewer may be asked for.
    ///
    /// - Parameter isOne: Whether a single token was asked for.
    private static func answer(in body: Data?, isOne: Bool) -> Result<Answer?, TokenRefusal> {
        guard let body else {
            guard isOne else { return .success(nil) }
            return .failure(TokenRefusal(.issuerUnavailable, "the provider's answer with one token is too large"))
        }
        guard let answer = try? JSONValue(parsing: body), let sets = answer["sets"]?.object else {
            return .failure(TokenRefusal(.issuerUnavailable, "the provider's answer has no sets"))
        }
        return .success(Answer(tokens: sets, hasMore: answer["moreAvailable"] == true))
    }
}

/// Polls from the moment the server answers, until the service ends.
struct SecurityEventPolling: Service {
    let polls: AsyncStream<[SecurityEventPoll]>

    func run() async {
        await cancelWhenGracefulShutdown {
            for await polls in polls {
                await withDiscardingTaskGroup { group in
                    for poll in polls { group.addTask { await poll.run() } }
                }
            }
        }
    }
}

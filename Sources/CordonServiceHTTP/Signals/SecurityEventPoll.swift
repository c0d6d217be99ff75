import CordonBase
import CordonPolicy
import Foundation
import HTTPTypes
import ServiceLifecycle

/// Fetches the security event tokens of a provider that keeps them until it is asked (RFC 8936).
///
/// A token is acknowledged once it has taken effect: one whose acknowledgement is lost comes again. What is refused is said to be and does
/// not come again; what cannot be judged at the moment is left for the next answer.
struct SecurityEventPoll: Sendable {
    /// The most tokens of an answer.
    static let mostEvents: Int64 = 100
    /// Before the next question where an answer had nothing new.
    static let pause = Duration.seconds(5)
    private static let longestPause = Duration.seconds(300)

    /// The provider, as the configuration spells it.
    let issuer: String
    let receiver: SecurityEventReceiver
    /// Posts a question, and brings the answer's body.
    let ask: @Sendable (_ question: Data) async -> Result<Data, TokenRefusal>
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// What became of the tokens of the answer before.
    private struct Outcome {
        var taken: [String] = []
        var refused: [String: JSONValue] = [:]

        var question: Data {
            var members: [String: JSONValue] = ["maxEvents": .integer(mostEvents), "returnImmediately": false]
            if !taken.isEmpty { members["ack"] = .array(taken.map(JSONValue.string)) }
            if !refused.isEmpty { members["setErrs"] = .object(refused) }
            return Data(JSONValue.object(members).text().utf8)
        }
    }

    /// Asks until the task is cancelled.
    func run() async {
        var outcome = Outcome()
        var failures = 0
        while !Task.isCancelled {
            var wait = Duration.zero
            switch await ask(outcome.question).flatMap(Self.tokens) {
            case .success(let tokens):
                failures = 0
                let before = Set(outcome.taken)
                outcome = await take(tokens)
                // Nothing new: the provider does not wait with its answer, or does not hear what became of the one before.
                if before.isSuperset(of: outcome.taken) { wait = Self.pause }
            case .failure(let refusal):
                guard !Task.isCancelled else { return }
                // What became of the answer before is said with the next question.
                wait = min(Self.pause * (1 << min(failures, 6)), Self.longestPause)
                failures += 1
                receiver.events.refusals.note(refusal, "security events could not be fetched", of: issuer)
            }
            guard wait > .zero else { continue }
            do { try await sleep(wait) } catch { return }
        }
    }

    /// Has tokens take effect, in any order: of what is said of an account, the latest counts.
    private func take(_ tokens: [String: JSONValue]) async -> Outcome {
        var outcome = Outcome()
        for (id, token) in tokens.sorted(by: { $0.key < $1.key }) {
            do {
                try await receiver.take(token.string ?? "")
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

    /// The tokens of an answer by their ids.
    private static func tokens(in answer: Data) -> Result<[String: JSONValue], TokenRefusal> {
        guard let sets = (try? JSONValue(parsing: answer))?["sets"]?.object, sets.count <= mostEvents else {
            return .failure(TokenRefusal(.issuerUnavailable, "the provider's answer has no sets, or too many"))
        }
        return .success(sets)
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

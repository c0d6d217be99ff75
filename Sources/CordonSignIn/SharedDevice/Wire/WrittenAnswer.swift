internal import CordonProtocol
package import Foundation

/// An answer that is written once and sent for as long as it is the answer.
///
/// Its bytes hold what the answer holds; who keeps one of a token gives it up with the token.
package struct WrittenAnswer<Answer: Encodable & Sendable>: Sendable, Encodable, AnswerBytes {
    /// The answer.
    package let answer: Answer
    fileprivate let bytes: Data?

    /// Writes an answer.
    package init(_ answer: Answer) {
        self.answer = answer
        bytes = try? MessageCoding.encode(answer)
    }

    package func encode(to encoder: any Encoder) throws { try answer.encode(to: encoder) }
}

/// What was written before, whatever it answers.
private protocol AnswerBytes {
    /// JSON; nil where the answer has no such form.
    var bytes: Data? { get }
}

extension BrokerMessage {
    /// The message as it travels, the same bytes as ``MessageCoding`` writes; nil where it has no JSON form.
    package var payload: Data? {
        guard case .answer(let id, let member?, let answer) = self, let written = (answer as? any AnswerBytes)?.bytes
        else { return try? MessageCoding.encode(self) }
        // In the order of their names.
        let isFirst = member.rawValue < BrokerMember.id.rawValue
        var bytes = Data(capacity: written.count + 32)
        bytes.append(contentsOf: (isFirst ? "{\"\(member.rawValue)\":" : "{\"id\":\(id),\"\(member.rawValue)\":").utf8)
        bytes.append(written)
        bytes.append(contentsOf: (isFirst ? ",\"id\":\(id)}" : "}").utf8)
        return bytes
    }
}

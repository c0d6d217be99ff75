package import CordonProtocol
package import Foundation

/// What the broker said, as an app reads it: an answer is read as the request that it answers expects it.
package struct BrokerReply: Decodable {
    /// What remains to be done once the waiting request is found to be waiting still.
    package typealias Completion = () -> Void
    /// Finds out how the answer to a request is read; nil where no request waits.
    package typealias Readers = @Sendable (UInt32) -> (@Sendable (any Decoder) throws -> Completion)?

    let id: UInt32?
    let error: SignInError?
    let event: AccountEvent?
    let progress: BrokerProgress?
    /// Hands the answer over; nil for bytes that are not an answer, or an answer that no request waits for.
    let complete: Completion?

    private static let readers = CodingUserInfoKey(rawValue: "readers")

    /// Reads what the broker said.
    ///
    /// - Throws: ``ProtocolError`` with code `malformed`; nothing that follows on the connection can be trusted.
    package static func read(_ payload: Data, answers: @escaping Readers) throws(ProtocolError) -> BrokerReply {
        try MessageCoding.decode(BrokerReply.self, from: payload, userInfo: readers.map { [$0: answers] } ?? [:])
    }

    package init(from decoder: any Decoder) throws {
        let message = try decoder.container(keyedBy: BrokerMember.self)
        id = try message.decodeIfPresent(UInt32.self, forKey: .id)
        error = try message.decodeIfPresent(SignInError.self, forKey: .error)
        event = try message.decodeIfPresent(AccountEvent.self, forKey: .event)
        progress = try message.decodeIfPresent(BrokerProgress.self, forKey: .progress)
        let readers = Self.readers.flatMap { decoder.userInfo[$0] as? Readers }
        guard let id, error == nil, progress == nil, let read = readers?(id) else {
            complete = nil
            return
        }
        complete = try read(decoder)
    }

    /// Reads the answer to a call, for a request that does not care.
    ///
    /// - Throws: What the decoder throws.
    package static func completion<Call: BrokerCall>(
        of call: Call.Type, from decoder: any Decoder
    ) throws -> Completion {
        _ = try answer(to: call, from: decoder)
        return {}
    }

    /// Reads the answer to a call; a failure where the member is missing that the call is answered by.
    static func answer<Call: BrokerCall>(
        to call: Call.Type, from decoder: any Decoder
    ) throws -> Result<Call.Answer, SignInError> {
        guard let member = Call.answerMember else { return .success(try Call.Answer(from: decoder)) }
        let message = try decoder.container(keyedBy: BrokerMember.self)
        guard let answer = try message.decodeIfPresent(Call.Answer.self, forKey: member) else {
            return .failure(SharedDeviceMode.malformed)
        }
        return .success(answer)
    }
}

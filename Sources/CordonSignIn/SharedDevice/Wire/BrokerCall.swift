package import Foundation

/// Something that an app asks the broker: a verb with its members, and what answers it (docs/broker-protocol.md).
///
/// The members lie beside `id` and `verb` in one JSON object; those that are nil are absent.
package protocol BrokerCall: Codable, Sendable {
    /// What the broker answers.
    associatedtype Answer: Codable & Sendable = Done
    /// The verb on the wire.
    static var verb: BrokerVerb { get }
    /// The answer's member; nil where the answer says only that it is done.
    static var answerMember: BrokerMember? { get }
}

extension BrokerCall where Answer == Done {
    package static var answerMember: BrokerMember? { nil }
}

/// The answer to a call that only has to be carried out.
package struct Done: Codable, Sendable, Equatable {
    package init() {}
}

/// What every request carries beside the members of its verb.
package struct BrokerRequestHead: Codable, Sendable, Equatable {
    /// Chosen by the app; the answer repeats it.
    package var id: UInt32
    /// What is asked. Text, because a newer app may ask what this broker does not know.
    package var verb: String
    /// Ties the logs of app, broker and provider together (SI-079).
    package var correlationID: UUID?
    /// Repeats the greeting's, from version 2 on.
    package var nonce: String?
}

/// A request as it travels.
package struct BrokerRequest<Call: BrokerCall>: Encodable, Sendable {
    let head: BrokerRequestHead
    let call: Call

    package init(_ call: Call, id: UInt32, correlationID: UUID? = nil, nonce: String? = nil) {
        head = BrokerRequestHead(id: id, verb: Call.verb.rawValue, correlationID: correlationID, nonce: nonce)
        self.call = call
    }

    package func encode(to encoder: any Encoder) throws {
        try head.encode(to: encoder)
        try call.encode(to: encoder)
    }
}

internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// A line of the exported history: what it is, and then its members beside that.
struct HistoryLine<Content: Encodable>: Encodable {
    /// What the line is, such as `version`.
    let type: String
    let content: Content

    private enum CodingKeys: String, CodingKey {
        case type
    }

    init(_ type: String, _ content: Content) {
        (self.type, self.content) = (type, content)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try content.encode(to: encoder)
    }

    /// The line as bytes, line feed included.
    func text() throws(ServiceError) -> Data {
        do {
            return try MessageCoding.encode(self) + Data("\n".utf8)
        } catch {
            throw ServiceError(.internalError, "a line of the history could not be written: \(error.reason)")
        }
    }
}

/// What an export is of.
struct HistoryHead: Encodable {
    /// Rises when lines change in a way that a reader of the form before would misread.
    var format = 1
    let tenant: String
    /// The export answers for every moment before this one.
    let until: Date
    /// How policies that disagree on a number are merged.
    let numericConflict: String
}

/// What one or several versions said, or what the protections of one delivery amounted to; the text is what the digest is of.
struct HistoryDocument: Encodable {
    let digest: String
    let text: String

    init(_ document: VersionDocument) {
        (digest, text) = (document.digest, document.text)
    }

    /// The document of what protections amount to together.
    init(_ settings: JSONValue) {
        text = settings.text()
        digest = SHA256.hash(data: Data(text.utf8)).hex
    }
}

/// What one registration was given, and what its protections amounted to.
struct HistoryDelivery: Encodable {
    let rules: DeliveredRules
    /// The digest of the document with the merged protections; nil where there was none, or one is not kept any more.
    let settings: String?

    private enum CodingKeys: String, CodingKey {
        case settings
    }

    func encode(to encoder: any Encoder) throws {
        try rules.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(settings, forKey: .settings)
    }
}

/// Whose a registration is, and how long it counted.
struct HistoryRegistration: Encodable {
    let id: String
    let user: String
    let app: String
    let created: Date
    let closed: Date?
    let state: Registration.State

    /// - Parameter until: What came later is left out.
    init(_ registration: Registration, until: Date) {
        id = registration.id
        user = registration.account.id.rawValue
        app = registration.application.bundleID
        created = registration.created
        let hasEnded = registration.state != .active && registration.closed.map { $0 < until } ?? true
        closed = hasEnded ? registration.closed : nil
        state = hasEnded ? registration.state : .active
    }
}

/// The line after which the audit log follows, record by record as it exports itself.
struct HistoryEnd: Encodable {
    /// How many lines came before this one.
    let lines: Int
}

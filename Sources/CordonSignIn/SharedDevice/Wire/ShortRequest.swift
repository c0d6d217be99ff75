internal import CordonBase
internal import CordonIdentity
internal import CordonProtocol
package import Foundation

/// A question that apps ask over and over, read without the general decoder, which takes longer for it than the answer does.
///
/// It reads what this library writes and nothing else: a member that is there twice, is `null` or belongs to another verb is left to
/// the decoder, so that no request has two meanings.
package struct ShortRequest {
    /// What every request carries.
    package let head: BrokerRequestHead
    /// The question.
    package let call: any BrokerCall

    private struct Members {
        var id: UInt32?
        var verb: BrokerVerb?
        var correlationID: UUID?
        var nonce: String?
        var account: AccountID?
        var session: UInt64?
        var scopes: [String]?
        var resource: String?

        var isBare: Bool { account == nil && session == nil && scopes == nil && resource == nil }
    }

    /// Reads a payload; nil for everything that is left to the decoder.
    package init?(_ payload: Data) {
        guard payload.first == UInt8(ascii: "{"), let members = try? Self.members(of: payload),
            let id = members.id, let verb = members.verb
        else { return nil }
        switch verb {
        case .deviceInfo where members.isBare: call = DeviceInfoCall()
        case .accountCurrent where members.isBare: call = CurrentAccountCall()
        case .accountList where members.isBare: call = AccountListCall()
        case .tokenSilent:
            call = SilentTokenCall(
                account: members.account, session: members.session, scopes: members.scopes, resource: members.resource)
        default: return nil
        }
        head = BrokerRequestHead(
            id: id, verb: verb.rawValue, correlationID: members.correlationID, nonce: members.nonce)
    }

    private static func members(of payload: Data) throws(TextFlaw) -> Members? {
        var reader = JSONReader(payload)
        var found = Members()
        guard case .object = try reader.next() else { return nil }
        var isFirst = true
        while let name = try reader.member(isFirst: isFirst) {
            isFirst = false
            let isNew: Bool
            switch (name, try reader.next()) {
            case ("id", .number(let text)): isNew = take(UInt32(plain: text), &found.id)
            case ("verb", .string(let text)): isNew = take(BrokerVerb(rawValue: text), &found.verb)
            case ("correlationID", .string(let text)): isNew = take(UUID(uuidString: text), &found.correlationID)
            case ("nonce", .string(let text)): isNew = take(text, &found.nonce)
            case ("account", .string(let text)): isNew = take(AccountID(text), &found.account)
            case ("session", .number(let text)): isNew = take(UInt64(plain: text), &found.session)
            case ("resource", .string(let text)): isNew = take(text, &found.resource)
            case ("scopes", .array): isNew = take(try reader.texts(), &found.scopes)
            default: isNew = false
            }
            guard isNew else { return nil }
        }
        try reader.finish()
        return found
    }

    /// Keeps a member that was read; false where it could not be, or was there before.
    private static func take<Value>(_ value: Value?, _ member: inout Value?) -> Bool {
        guard member == nil, let value else { return false }
        member = value
        return true
    }
}

extension FixedWidthInteger {
    /// A number of digits alone.
    init?(plain text: String) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(text)
    }
}

extension JSONReader {
    /// The rest of an array whose opening bracket was read; nil where an element is no text.
    mutating func texts() throws(TextFlaw) -> [String]? {
        var texts: [String] = []
        while try hasElement(isFirst: texts.isEmpty) {
            guard case .string(let text) = try next() else { return nil }
            texts.append(text)
        }
        return texts
    }
}

extension BrokerRequest {
    /// The request as it travels; nil where it has no JSON form.
    package var payload: Data? { shortPayload ?? (try? MessageCoding.encode(self)) }

    /// The same bytes as ``MessageCoding`` writes, by hand for a question that apps ask over and over; nil for every other.
    package var shortPayload: Data? {
        var text = ShortText()
        var account: String?
        var (resource, scopes, session): (String?, [String]?, UInt64?)
        switch call {
        case is DeviceInfoCall, is CurrentAccountCall, is AccountListCall: break
        case let call as SilentTokenCall where call.claims == nil && call.forcesRenewal == nil:
            account = call.account?.rawValue
            (resource, scopes, session) = (call.resource, call.scopes, call.session)
        default: return nil
        }
        // In the order of their names.
        text.add("account", account)
        text.add("correlationID", head.correlationID?.uuidString)
        text.add("id", UInt64(head.id))
        text.add("nonce", head.nonce)
        text.add("resource", resource)
        text.add("scopes", scopes)
        text.add("session", session)
        text.add("verb", head.verb)
        return text.finish()
    }
}

/// One JSON object of texts and numbers, written member by member.
private struct ShortText {
    private var bytes: [UInt8] = {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        bytes.append(UInt8(ascii: "{"))
        return bytes
    }()
    /// Whether every text was one that stands in JSON as it is.
    private var isPlain = true

    mutating func add(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        begin(name)
        add(text)
    }

    mutating func add(_ name: StaticString, _ number: UInt64?) {
        guard let number else { return }
        begin(name)
        bytes.append(contentsOf: String(number).utf8)
    }

    mutating func add(_ name: StaticString, _ texts: [String]?) {
        guard let texts else { return }
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            add(text)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// The object; nil where a text needs an escape.
    mutating func finish() -> Data? {
        bytes.append(UInt8(ascii: "}"))
        return isPlain ? Data(bytes) : nil
    }

    private mutating func begin(_ name: StaticString) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: ":")])
    }

    private mutating func add(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { part in
            for byte in part
            where byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                isPlain = false
            }
            bytes.append(contentsOf: part)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

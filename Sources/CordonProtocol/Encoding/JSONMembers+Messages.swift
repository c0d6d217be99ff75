package import CordonIdentity
package import CordonPolicy
package import Foundation

extension JSONMembers {
    /// A time.
    package func time(_ name: String) throws(PolicyError) -> Date { try Self.time(try text(name), name) }

    /// A time, nil where there is none.
    package func optionalTime(_ name: String) throws(PolicyError) -> Date? {
        guard let text = try optionalText(name) else { return nil }
        return try Self.time(text, name)
    }

    /// An address.
    package func address(_ name: String) throws(PolicyError) -> URL {
        guard let address = URL(string: try text(name)) else {
            throw PolicyError(.invalidValue, "is not an address", at: name)
        }
        return address
    }

    /// An account's id.
    package func account(_ name: String) throws(PolicyError) -> AccountID { AccountID(try text(name)) }

    /// An organisation's id.
    package func tenant(_ name: String) throws(PolicyError) -> TenantID { TenantID(try text(name)) }

    /// A member that is seldom there, read by a decoder; nil where there is none.
    package func decodeIfPresent<Value: Decodable>(
        _ type: Value.Type, _ name: String
    ) throws(PolicyError) -> Value? {
        guard let value = self[name] else { return nil }
        return try Self.decode(type, value, name)
    }

    /// An array that is mostly empty, its values read by a decoder.
    package func decodeList<Value: Decodable>(_ type: Value.Type, _ name: String) throws(PolicyError) -> [Value] {
        var list: [Value] = []
        for value in try values(name) { list.append(try Self.decode(type, value, name)) }
        return list
    }

    /// The whole object, read by a decoder.
    package func decode<Value: Decodable>(_ type: Value.Type) throws(PolicyError) -> Value {
        try Self.decode(type, object, "")
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type, _ value: JSONValue, _ name: String
    ) throws(PolicyError) -> Value {
        do { return try MessageCoding.decode(type, from: value) } catch {
            throw PolicyError(.invalidValue, error.reason, at: name)
        }
    }

    private static func time(_ text: String, _ name: String) throws(PolicyError) -> Date {
        guard let time = MessageTime.moment(text) else { throw PolicyError(.invalidValue, "is not a time", at: name) }
        return time
    }
}

extension ManagedAccount: JSONReadable {
    package init(_ members: JSONMembers) throws(PolicyError) {
        self.init(
            id: try members.account("id"), tenant: try members.tenant("tenant"),
            userPrincipalName: try members.text("userPrincipalName"))
    }
}

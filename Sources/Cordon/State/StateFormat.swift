internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

/// The versions of the state files, and how an older one becomes a newer one.
///
/// A file names its version; the first version named none. A file of a version that is not known yet was written by a
/// newer app: it is left as it is. The third version is the second one sealed, the fourth one is counted besides, see
/// ``SealedState``; what is plain on purpose stays at the second.
enum StateFormat {
    /// The version of what is plain, or lies inside a seal.
    static let current: Int64 = 2

    /// What became of a file's bytes.
    enum Reading<Value> {
        /// It could be read, from this version or an older one.
        case read(Value)
        /// It was written by a newer version.
        case newer
        /// It is not what was ever written.
        case damaged
    }

    /// Reads a state file of any version known.
    static func read<Value: Decodable>(_ type: Value.Type, from bytes: Data) -> Reading<Value> {
        guard var members = (try? JSONValue(parsing: bytes))?.object else { return .damaged }
        let version = members["version"]?.integer ?? 1
        guard version <= current else { return .newer }
        if version < 2 { members.merge(addedByVersion2) { old, _ in old } }
        guard
            let value = try? MessageCoding.decode(type, from: Data(JSONValue.object(members).text().utf8))
        else { return .damaged }
        return .read(value)
    }

    /// What version 2 knows of a registration that version 1 did not.
    private static var addedByVersion2: [String: JSONValue] {
        ["version": .integer(2), "generation": .integer(0), "sequence": .integer(0), "failures": .integer(0)]
    }
}

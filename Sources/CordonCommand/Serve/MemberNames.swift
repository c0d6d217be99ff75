import CordonPolicy

/// The names of an object's members in a file that people write: one that is not known is most likely misspelt.
struct MemberNames: Decodable {
    private let all: [String]

    private struct AnyKey: CodingKey {
        let stringValue: String
        let intValue: Int? = nil
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    init(from decoder: any Decoder) throws {
        all = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
    }

    /// The first name, in order, that is none of these.
    func strange(besides known: [String]) -> String? { all.sorted().first { !known.contains($0) } }

    /// What to do about a name that is not known: take the known one that was meant or, where none is near, any of them.
    static func hint(to strange: String, besides known: [String]) -> String {
        if let meant = MemberSpelling.meant(by: strange, among: known) { return "did you mean \(meant)?" }
        return "use one of \(known.sorted().joined(separator: ", "))"
    }
}

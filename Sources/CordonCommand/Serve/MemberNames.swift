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
}

import CordonPolicy
import CordonServiceHTTP

/// The versions of policies that are in force, and who made them, asked for at once.
struct VersionsInForce {
    /// The versions in force, by the policy as they name it.
    private let versions: [String: JSONValue]
    private let people: PeopleStatus

    init(of ids: [String], _ visit: ConsoleVisit) async throws {
        let asked = ids.map { "policy=" + ConsolePath.part($0) }
        let versions =
            asked.isEmpty
            ? [] : try await visit.api.get("/admin/v1/policies/inForce?" + asked.joined(separator: "&")).array ?? []
        self.versions = Dictionary(
            versions.map { ($0.text("entity"), $0) }, uniquingKeysWith: { first, _ in first })
        people = try await PeopleStatus(of: versions.map(Self.author), visit)
    }

    /// The name of who changed a policy last; what was there before versions were kept has none.
    func name(of id: String) -> Phrase {
        let author = Self.author(of: versions["policy/" + id.lowercased()] ?? .null)
        return author.isEmpty ? "not known" : .data(people.name(of: author))
    }

    /// The version in force as the history numbers it, with what devices report of it.
    func version(of policy: JSONValue) -> Cell {
        let code = Cell.code(policy.text("version"))
        guard let known = versions["policy/" + policy.text("id").lowercased()],
            known.text("version") == policy.text("version")
        else { return code }
        return .list([.text("Version \(.data("\(known.number("number"))"))"), code])
    }

    private static func author(of version: JSONValue) -> String { version["author"]?.text("id") ?? "" }
}

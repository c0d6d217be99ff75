import CordonService
import Foundation

/// A file with the organisation's people and groups, for where no provisioning system speaks SCIM.
///
/// ```json
/// { "people": [ { "id": "…the oid or sub of their tokens…", "userPrincipalName": "ada@example.test",
///                 "displayName": "Ada" } ],
///   "groups": [ { "id": "field", "displayName": "Field", "members": ["…an id or a sign-in name…"], "groups": [] } ] }
/// ```
enum DirectoryFile {
    private static let largest = 64 << 20

    private struct Document: Decodable {
        var people: [Strict<Person, Person.CodingKeys>]
        var groups: [Strict<Group, Group.CodingKeys>]?

        enum CodingKeys: String, CodingKey, CaseIterable { case people, groups }
    }

    /// An object that has no member but those that are known: without its misspelt `accountEnabled` a person would be enabled.
    private struct Strict<Value: Decodable, Key: CodingKey & CaseIterable>: Decodable {
        let value: Value

        init(from decoder: any Decoder) throws {
            if let strange = try MemberNames(from: decoder).strange(besides: Key.allCases.map(\.stringValue)) {
                let place = (decoder.codingPath.map(\.stringValue) + [strange]).joined(separator: ".")
                throw CommandFailure(.badInput, "\(place) is not known")
            }
            value = try Value(from: decoder)
        }
    }

    private struct Person: Decodable {
        var id: String
        var userPrincipalName: String
        var displayName: String?
        var mail: String?
        var givenName: String?
        var surname: String?
        var jobTitle: String?
        var department: String?
        var accountEnabled: Bool?
        var isLicensed: Bool?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case id, userPrincipalName, displayName, mail, givenName, surname, jobTitle, department, accountEnabled,
                isLicensed
        }
    }

    private struct Group: Decodable {
        var id: String
        var displayName: String?
        var description: String?
        var members: [String]?
        var groups: [String]?

        enum CodingKeys: String, CodingKey, CaseIterable { case id, displayName, description, members, groups }
    }

    /// Reads a file.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput` naming the first thing that is wrong.
    static func read(_ file: URL) throws(CommandFailure) -> DirectoryContent {
        let document: Document
        do {
            let bytes = try Data(contentsOf: file)
            guard bytes.count <= largest else { throw CocoaError(.fileReadTooLarge) }
            document = try JSONDecoder().decode(Strict<Document, Document.CodingKeys>.self, from: bytes).value
        } catch let failure as CommandFailure {
            throw unusable(file, failure.message)
        } catch DecodingError.keyNotFound(let key, let context) {
            let place = (context.codingPath + [key]).map(\.stringValue).joined(separator: ".")
            throw unusable(file, "\(place) is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw unusable(file, "\(context.codingPath.map(\.stringValue).joined(separator: ".")) is of the wrong kind")
        } catch {
            throw unusable(file, "it cannot be read as JSON")
        }
        let people = document.people.map(\.value).map { person in
            DirectoryUser(
                id: person.id, userPrincipalName: person.userPrincipalName,
                displayName: person.displayName ?? person.userPrincipalName, mail: person.mail,
                givenName: person.givenName, surname: person.surname, jobTitle: person.jobTitle,
                department: person.department, accountEnabled: person.accountEnabled ?? true,
                isLicensed: person.isLicensed ?? true)
        }
        try requireOnce(people.map(\.id), "people have the same id", file)
        try requireOnce(people.map(\.userPrincipalName), "people have the same userPrincipalName", file)
        return DirectoryContent(people: people, groups: try groups(of: document, people, file))
    }

    private static func groups(
        of document: Document, _ people: [DirectoryUser], _ file: URL
    ) throws(CommandFailure) -> [DirectoryGroup] {
        var ids: [String: String] = [:]
        for person in people {
            ids[person.userPrincipalName.lowercased()] = person.id
            ids[person.id.lowercased()] = person.id
        }
        var groups: [DirectoryGroup] = []
        for group in (document.groups ?? []).map(\.value) {
            var members: Set<DirectoryGroup.Member> = Set((group.groups ?? []).map { .group($0) })
            for name in group.members ?? [] {
                guard let id = ids[name.lowercased()] else {
                    throw unusable(file, "\(name), a member of the group \(group.id), is not a person of the file")
                }
                members.insert(.user(id))
            }
            groups.append(
                DirectoryGroup(
                    id: group.id, displayName: group.displayName ?? group.id, description: group.description,
                    members: members))
        }
        try requireOnce(groups.map(\.id), "groups have the same id", file)
        return groups
    }

    /// Refuses names of which one comes twice, in whatever case.
    private static func requireOnce(_ names: [String], _ what: String, _ file: URL) throws(CommandFailure) {
        var seen: Set<String> = []
        guard let double = names.first(where: { !seen.insert($0.lowercased()).inserted }) else { return }
        throw unusable(file, "two \(what): \(double)")
    }

    private static func unusable(_ file: URL, _ reason: String) -> CommandFailure {
        CommandFailure(
            .badInput, "\(file.path): \(reason)", hint: "The form of the file is in docs/operating.md.")
    }
}

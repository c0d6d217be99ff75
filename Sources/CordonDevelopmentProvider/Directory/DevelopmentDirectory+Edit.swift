public import CordonProtocol
import Foundation

extension DevelopmentDirectory {
    /// Adds a person with a new password hash; the file is not touched before ``save(to:)``.
    ///
    /// - Parameter id: the object id; a new UUID when absent.
    /// - Returns: the person as added.
    /// - Throws: ``ProgramError`` with code `duplicate`, `passwordUnusable` or `directoryInvalid`; the
    ///   directory is then unchanged.
    @discardableResult
    public mutating func addPerson(
        userPrincipalName: String, displayName: String, password: String, roles: [String] = [], id: String? = nil,
        parameters: DirectoryPassword.Parameters = .init()
    ) throws(ProgramError) -> Person {
        if person(userPrincipalName: userPrincipalName) != nil {
            throw Self.duplicate("a person with this userPrincipalName exists", place: "userPrincipalName")
        }
        let person = Person(
            id: id ?? UUID().uuidString.lowercased(), userPrincipalName: userPrincipalName, displayName: displayName,
            roles: roles, password: try DirectoryPassword(password, parameters: parameters))
        if self.person(id: person.id) != nil || groups.contains(where: { $0.id == person.id }) {
            throw Self.duplicate("this id is taken", place: "id")
        }
        var changed = self
        changed.people.append(person)
        try changed.validate()
        self = changed
        return person
    }

    /// Adds a group; the file is not touched before ``save(to:)``.
    ///
    /// - Parameters:
    ///   - members: ids of people who exist.
    ///   - id: the object id; a new UUID when absent.
    /// - Returns: the group as added.
    /// - Throws: ``ProgramError`` with code `duplicate` or `directoryInvalid`; the directory is then unchanged.
    @discardableResult
    public mutating func addGroup(
        displayName: String, members: [String] = [], id: String? = nil
    ) throws(ProgramError) -> Group {
        let group = Group(id: id ?? UUID().uuidString.lowercased(), displayName: displayName, members: members)
        if groups.contains(where: { $0.id == group.id }) || person(id: group.id) != nil {
            throw Self.duplicate("this id is taken", place: "id")
        }
        var changed = self
        changed.groups.append(group)
        try changed.validate()
        self = changed
        return group
    }

    private static func duplicate(_ reason: String, place: String) -> ProgramError {
        ProgramError(.duplicate, reason: reason, place: place, hint: "choose another one")
    }
}

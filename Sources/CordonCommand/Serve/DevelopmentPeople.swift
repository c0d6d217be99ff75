import CordonDevelopmentProvider
internal import CordonProtocol
import Foundation

/// The directory of a development service: a few people, made at the first start, in a file to edit afterwards.
enum DevelopmentPeople {
    static let directoryFile = "directory.json"
    static let passwordsFile = "passwords.txt"

    private static let people: [(name: String, display: String, roles: [String], group: String)] = [
        ("ada@contoso.example", "Ada Administrator", ["owner"], "Administrators"),
        ("worker-a@contoso.example", "Worker A", [], "Field workers"),
        ("worker-b@contoso.example", "Worker B", [], "Field workers"),
    ]

    /// The directory in the folder; at the first start a new one, its passwords written down beside it.
    ///
    /// - Parameters:
    ///   - tenant: The tenant id of a new directory, empty for a random one.
    ///   - password: The password of every person in a new directory, nil for random ones.
    /// - Throws: ``CommandFailure`` with status `badInput` for a damaged file, `writeFailed` otherwise.
    static func open(
        in folder: PrivateFolder, tenant: String, password: String?
    ) throws(CommandFailure) -> DevelopmentDirectory {
        let file = folder.url.appending(path: directoryFile)
        do throws(ProgramError) {
            if FileManager.default.fileExists(atPath: file.path) { return try DevelopmentDirectory.load(from: file) }
            let (directory, passwords) = try make(tenant: tenant, password: password)
            try directory.save(to: file)
            let lines = passwords.map { "\($0.name) \($0.password)\n" }.joined()
            do {
                try folder.write("# For development only.\n" + lines, to: passwordsFile)
            } catch {
                throw ProgramError(
                    .fileUnwritable, reason: error.message, place: folder.url.path, hint: error.hint ?? "")
            }
            return directory
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func make(
        tenant: String, password: String?
    ) throws(ProgramError) -> (DevelopmentDirectory, [(name: String, password: String)]) {
        var directory = DevelopmentDirectory(tenantID: tenant.isEmpty ? UUID().uuidString.lowercased() : tenant)
        var passwords: [(String, String)] = []
        var members: [String: [String]] = [:]
        // Nobody guesses a random password, however cheap a guess is; one that somebody chose costs the usual.
        let parameters = password == nil ? DirectoryPassword.Parameters(rounds: 1_024) : .init()
        for person in people {
            let password = password ?? randomPassword()
            let added = try directory.addPerson(
                userPrincipalName: person.name, displayName: person.display, password: password, roles: person.roles,
                parameters: parameters)
            passwords.append((person.name, password))
            members[person.group, default: []].append(added.id)
        }
        for name in members.keys.sorted() {
            try directory.addGroup(displayName: name, members: members[name] ?? [])
        }
        return (directory, passwords)
    }

    /// Twenty letters and digits that are not mistaken for each other: more than 110 bits.
    static func randomPassword() -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789")
        var generator = SystemRandomNumberGenerator()
        return String((0..<20).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] })
    }
}

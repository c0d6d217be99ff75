internal import CordonIdentity

extension StorageReader {
    /// A person, by object id or sign-in name.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func user(_ idOrName: String) throws(ServiceError) -> DirectoryUser {
        guard let user = try knownUser(idOrName) else {
            throw ServiceError(.notFound, "no person has this id or sign-in name")
        }
        return user
    }

    /// A person, by object id or sign-in name, nil where there is none.
    func knownUser(_ idOrName: String) throws(ServiceError) -> DirectoryUser? {
        let name = folded(idOrName)
        if let user = try record(DirectoryUser.self, name) { return user }
        return try records(DirectoryUser.self, where: (.name, name)).first
    }

    /// The object id of a person whom the directory knows, or whose registrations are all that is left of them.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func personID(_ idOrName: String) throws(ServiceError) -> String {
        if let user = try record(DirectoryUser.self, folded(idOrName)) { return user.id }
        if let registration = try records(Registration.self, where: (.user, folded(idOrName))).first {
            return registration.account.id.rawValue
        }
        return try user(idOrName).id
    }

    /// A group, by object id.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func group(_ id: String) throws(ServiceError) -> DirectoryGroup {
        guard let group = try record(DirectoryGroup.self, folded(id)) else {
            throw ServiceError(.notFound, "no group has this id")
        }
        return group
    }
}

/// Refuses ids that a URL could not carry as they are (SRV-RS-003).
func checkDirectoryID(_ id: String) throws(ServiceError) {
    let isSafe = id.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
    guard isSafe, !id.isEmpty, id.utf8.count <= 128 else {
        throw ServiceError(
            .invalid, "id is not acceptable",
            problems: [.init(member: "id", reason: "needs 1 to 128 letters, digits or -_.~")])
    }
}

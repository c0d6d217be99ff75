extension StorageReader {
    /// A person, by object id or sign-in name.
    ///
    /// - Throws: ``ServiceError`` with code `notFound`.
    func user(_ idOrName: String) throws(ServiceError) -> DirectoryUser {
        let name = folded(idOrName)
        if let user = try record(DirectoryUser.self, name) { return user }
        guard let user = try records(DirectoryUser.self, where: (.name, name)).first else {
            throw ServiceError(.notFound, "no person has this id or sign-in name")
        }
        return user
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

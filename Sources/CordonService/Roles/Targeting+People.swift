internal import CordonIdentity

extension Targeting {
    /// Whether some role of an administrator includes the permission for a person, by object id.
    func lets(
        _ administrator: Administrator, _ permission: Permission, over person: String, in records: some StorageReader
    ) throws(ServiceError) -> Bool {
        if administrator.mayOverEverybody(permission) { return true }
        let groups = try snapshot(of: administrator.tenant, in: records)
            .groups(over: try records.directGroups(ofPerson: folded(person)))
        return administrator.may(permission, overPeopleIn: groups)
    }
}

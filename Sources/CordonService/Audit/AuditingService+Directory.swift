extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func users(as administrator: Administrator) async throws(ServiceError) -> [DirectoryUser] {
        try await noting(administrator, "users") { () async throws(ServiceError) -> [DirectoryUser] in
            try await wrapped.users(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func user(_ idOrName: String, as administrator: Administrator) async throws(ServiceError) -> DirectoryUser {
        try await noting(administrator, "user") { () async throws(ServiceError) -> DirectoryUser in
            try await wrapped.user(idOrName, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func saveUser(_ user: DirectoryUser, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "saveUser") { () async throws(ServiceError) -> Void in
            try await wrapped.saveUser(user, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func replaceUser(
        _ known: DirectoryUser?, with user: DirectoryUser, as administrator: Administrator
    ) async throws(ServiceError) {
        try await noting(administrator, "replaceUser") { () async throws(ServiceError) -> Void in
            try await wrapped.replaceUser(known, with: user, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func removeUser(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "removeUser") { () async throws(ServiceError) -> Void in
            try await wrapped.removeUser(id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func groups(as administrator: Administrator) async throws(ServiceError) -> [DirectoryGroup] {
        try await noting(administrator, "groups") { () async throws(ServiceError) -> [DirectoryGroup] in
            try await wrapped.groups(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func group(_ id: String, as administrator: Administrator) async throws(ServiceError) -> DirectoryGroup {
        try await noting(administrator, "group") { () async throws(ServiceError) -> DirectoryGroup in
            try await wrapped.group(id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func saveGroup(_ group: DirectoryGroup, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "saveGroup") { () async throws(ServiceError) -> Void in
            try await wrapped.saveGroup(group, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func replaceGroup(
        _ known: DirectoryGroup?, with group: DirectoryGroup, as administrator: Administrator
    ) async throws(ServiceError) {
        try await noting(administrator, "replaceGroup") { () async throws(ServiceError) -> Void in
            try await wrapped.replaceGroup(known, with: group, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func removeGroup(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "removeGroup") { () async throws(ServiceError) -> Void in
            try await wrapped.removeGroup(id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func groups(ofUser id: String, as administrator: Administrator) async throws(ServiceError)
        -> [DirectoryGroup]
    {
        try await noting(administrator, "groups") { () async throws(ServiceError) -> [DirectoryGroup] in
            try await wrapped.groups(ofUser: id, as: administrator)
        }
    }
}

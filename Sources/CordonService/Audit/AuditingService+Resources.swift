extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func resources<Resource: AdministeredResource>(
        _ type: Resource.Type, as administrator: Administrator
    ) async throws(ServiceError) -> [Resource] {
        try await noting(administrator, "resources") { () async throws(ServiceError) -> [Resource] in
            try await wrapped.resources(type, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func resource<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) -> Resource {
        try await noting(administrator, "resource") { () async throws(ServiceError) -> Resource in
            try await wrapped.resource(type, id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func saveResource<Resource: AdministeredResource>(
        _ resource: Resource, isNew: Bool, as administrator: Administrator
    ) async throws(ServiceError) {
        try await noting(administrator, "saveResource") { () async throws(ServiceError) -> Void in
            try await wrapped.saveResource(resource, isNew: isNew, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func removeResource<Resource: AdministeredResource>(
        _ type: Resource.Type, _ id: String, as administrator: Administrator
    ) async throws(ServiceError) {
        try await noting(administrator, "removeResource") { () async throws(ServiceError) -> Void in
            try await wrapped.removeResource(type, id, as: administrator)
        }
    }
}

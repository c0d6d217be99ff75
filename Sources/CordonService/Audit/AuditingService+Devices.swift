extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func registrations(_ filter: RegistrationFilter, as administrator: Administrator) async throws(ServiceError)
        -> [Registration]
    {
        try await noting(administrator, "registrations") { () async throws(ServiceError) -> [Registration] in
            try await wrapped.registrations(filter, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func registration(_ id: String, as administrator: Administrator) async throws(ServiceError) -> Registration {
        try await noting(administrator, "registration") { () async throws(ServiceError) -> Registration in
            try await wrapped.registration(id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func forgetRegistration(_ id: String, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "forgetRegistration") { () async throws(ServiceError) -> Void in
            try await wrapped.forgetRegistration(id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func requestWipe(ofUser userID: String, deviceTag: String, as administrator: Administrator)
        async throws(ServiceError) -> [WipeOperation]
    {
        try await noting(administrator, "requestWipe") { () async throws(ServiceError) -> [WipeOperation] in
            try await wrapped.requestWipe(ofUser: userID, deviceTag: deviceTag, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func blockUser(_ userID: String, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "blockUser") { () async throws(ServiceError) -> Void in
            try await wrapped.blockUser(userID, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func unblockUser(_ userID: String, as administrator: Administrator) async throws(ServiceError) {
        try await noting(administrator, "unblockUser") { () async throws(ServiceError) -> Void in
            try await wrapped.unblockUser(userID, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func blockedUsers(as administrator: Administrator) async throws(ServiceError) -> [String] {
        try await noting(administrator, "blockedUsers") { () async throws(ServiceError) -> [String] in
            try await wrapped.blockedUsers(as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func operations(ofRegistration id: String?, as administrator: Administrator) async throws(ServiceError)
        -> [WipeOperation]
    {
        try await noting(administrator, "operations") { () async throws(ServiceError) -> [WipeOperation] in
            try await wrapped.operations(ofRegistration: id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func operation(_ id: String, as administrator: Administrator) async throws(ServiceError) -> WipeOperation {
        try await noting(administrator, "operation") { () async throws(ServiceError) -> WipeOperation in
            try await wrapped.operation(id, as: administrator)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func cancelOperation(_ id: String, as administrator: Administrator) async throws(ServiceError)
        -> WipeOperation
    {
        try await noting(administrator, "cancelOperation") { () async throws(ServiceError) -> WipeOperation in
            try await wrapped.cancelOperation(id, as: administrator)
        }
    }
}

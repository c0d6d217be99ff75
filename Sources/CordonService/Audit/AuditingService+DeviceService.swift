public import CordonIdentity
public import CordonProtocol

extension AuditingService {
    /// As the wrapped service; a refusal is noted.
    public func register(_ request: RegistrationRequest, by caller: DeviceCaller) async throws(ServiceError)
        -> RegistrationOutcome
    {
        try await noting(caller, "register") { () async throws(ServiceError) -> RegistrationOutcome in
            try await wrapped.register(request, by: caller)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func checkIn(_ request: CheckInRequest, registration id: String, by caller: DeviceCaller)
        async throws(ServiceError) -> CheckInOutcome
    {
        try await noting(caller, "checkIn") { () async throws(ServiceError) -> CheckInOutcome in
            try await wrapped.checkIn(request, registration: id, by: caller)
        }
    }

    /// As the wrapped service; a refusal is noted.
    @discardableResult
    public func acknowledge(_ acknowledgement: Acknowledgement, registration id: String, by caller: DeviceCaller)
        async throws(ServiceError) -> Command.Kind
    {
        try await noting(caller, "acknowledge") { () async throws(ServiceError) -> Command.Kind in
            try await wrapped.acknowledge(acknowledgement, registration: id, by: caller)
        }
    }

    /// As the wrapped service; a refusal is noted.
    public func events(ofRegistration id: String, after eventID: Int64?, by caller: DeviceCaller)
        async throws(ServiceError) -> AsyncStream<ServiceEvent>
    {
        try await noting(caller, "events") { () async throws(ServiceError) -> AsyncStream<ServiceEvent> in
            try await wrapped.events(ofRegistration: id, after: eventID, by: caller)
        }
    }

    /// As the wrapped service.
    public func keySet(of tenant: TenantID) async throws(ServiceError) -> SignedKeySet {
        try await wrapped.keySet(of: tenant)
    }

    /// As the wrapped service.
    public func discoveryFacts(of tenant: TenantID) async throws(ServiceError) -> DiscoveryFacts {
        try await wrapped.discoveryFacts(of: tenant)
    }
}

public import CordonIdentity
internal import CordonProtocol

/// A store that lasts as long as the process; for tests and for trying things out.
public actor InMemoryStorage: ServiceStorage {
    private var tenants: [TenantID: InMemoryTenant] = [:]

    /// Makes an empty store.
    public init() {}

    /// Runs the body on the present state.
    public func read<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageReader) throws -> Result
    ) async throws -> Result {
        try body(state(of: tenant))
    }

    /// Runs the body alone; when it throws, its changes are taken back.
    public func write<Result: Sendable>(
        _ tenant: TenantID, _ body: @escaping @Sendable (any StorageTransaction) throws -> Result
    ) async throws -> Result {
        let state = state(of: tenant)
        state.begin()
        do {
            return try body(state)
        } catch {
            state.rollBack()
            throw error
        }
    }

    private func state(of tenant: TenantID) -> InMemoryTenant {
        if let state = tenants[tenant] { return state }
        let state = InMemoryTenant()
        tenants[tenant] = state
        return state
    }
}

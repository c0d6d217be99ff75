public import CordonIdentity
internal import Foundation

/// How much a service has under way, as numbers for its metrics.
public struct ServiceWorkload: Sendable, Equatable {
    /// Registrations that count.
    public let registrations: Int
    /// Wipes that were asked for and have not ended.
    public let openWipes: Int
    /// Wipes of the last days that failed or lapsed, and that none took the place of.
    public let failedWipes: Int

    /// Makes a workload.
    public init(registrations: Int, openWipes: Int, failedWipes: Int) {
        self.registrations = registrations
        self.openWipes = openWipes
        self.failedWipes = failedWipes
    }
}

extension ManagementService {
    /// How much an organisation has under way; counted by the store, without reading every app.
    public func workload(of tenant: TenantID) async throws(ServiceError) -> ServiceWorkload {
        try await store.read(for: tenant) { records in
            ServiceWorkload(
                registrations: try records.count(
                    Registration.self, of: .found(by: .state, Registration.State.active.rawValue), atMost: .max),
                openWipes: try records.count(WipeOperation.self, of: .found(by: .state, "open"), atMost: .max),
                failedWipes: try records.count(WipeOperation.self, of: .found(by: .state, "failed"), atMost: .max))
        }
    }
}

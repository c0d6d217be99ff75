import CordonIdentity
import CordonProtocol
import CordonService
import Foundation

/// What `/.well-known/cordon-mam` says (SRV-CI-017).
struct DiscoveryDocument: Sendable {
    let service: any ManagementService
    let tenant: TenantID
    let issuer: URL
    let checkIn: URL
    let resource: String

    func value() async throws(CheckInRefusal) -> ServiceDiscovery {
        let facts: DiscoveryFacts
        do {
            facts = try await service.discoveryFacts(of: tenant)
        } catch {
            throw CheckInRefusal(error)
        }
        return ServiceDiscovery(
            tenant: facts.tenant, issuer: issuer, checkIn: checkIn, resource: resource,
            scope: TokenRules.checkInScope, keys: checkIn.appending(path: "keys"), versions: facts.versions)
    }
}

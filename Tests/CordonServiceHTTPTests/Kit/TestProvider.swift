import CordonDevelopmentProvider
import CordonIdentity
import CordonServiceHTTP
import Foundation

/// The embedded provider with one program that may administer.
enum TestProvider {
    static let secret = "a-secret-of-the-nightly-job"

    /// - Parameter clients: Programs besides the nightly job.
    static func make(
        for configuration: ServiceServerConfiguration, issuer: URL? = nil, clients: [IdentityProviderClient] = [],
        clock: @escaping @Sendable () -> Date = { Date() }
    ) throws -> DevelopmentIdentityProvider {
        let audience = configuration.mainAdministrationAudience
        let nightly = IdentityProviderClient(
            id: "nightly", displayName: "Nightly job", grants: [.clientCredentials], resources: [audience],
            applicationRoles: ["DeviceManagementApps.ReadWrite.All"], secret: secret)
        return try DevelopmentIdentityProvider(
            directory: DevelopmentDirectory(tenantID: configuration.tenant.rawValue),
            configuration: .development(
                checkIn: configuration.checkInAudience, admin: audience, additionalClients: [nightly] + clients),
            issuer: issuer, clock: clock)
    }
}

extension EmbeddedProvider {
    /// The provider as a program wires it.
    init(_ provider: DevelopmentIdentityProvider) {
        self.init(
            path: DevelopmentIdentityProvider.path, routes: DevelopmentIdentityProvider.routes,
            largestBody: DevelopmentIdentityProvider.largestBody, start: { await provider.answer(at: $0) },
            answer: { await provider.answer($0, body: $1) },
            answerToken: { await provider.answerToken($0, body: $1, at: $2) },
            endSessions: { await provider.revokeGrants(ofPerson: $0) })
    }
}

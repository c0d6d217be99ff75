import CordonTestSupport
import Foundation
import HTTPTypes

@testable import CordonDevelopmentProvider

/// A provider with two people, the usual clients and a clock that stands still.
struct ProviderFixture: Sendable {
    static let issuer = "http://localhost:8080/idp"
    static let tokenURI = issuer + "/token"
    static let checkIn = "urn:example:check-in"
    static let admin = "urn:example:admin"
    static let redirect = "http://127.0.0.1:49152/callback"
    static let secret = "a-secret-of-the-nightly-job"

    let clock = SettableClock()
    let provider: DevelopmentIdentityProvider

    init(
        directory: DevelopmentDirectory? = nil,
        _ change: (inout IdentityProviderConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = IdentityProviderConfiguration.development(
            checkIn: Self.checkIn, admin: Self.admin, additionalClients: [Self.nightly])
        change(&configuration)
        let clock = clock
        provider = try DevelopmentIdentityProvider(
            directory: try directory ?? Self.directory(), configuration: configuration,
            issuer: URL(string: Self.issuer), clock: { clock.now })
    }

    static let nightly = IdentityProviderClient(
        id: "nightly", displayName: "Nightly job", redirectURIs: ["https://console.example.test/callback"],
        grants: [.clientCredentials, .authorizationCode, .refreshToken], resources: [admin],
        applicationRoles: ["DeviceManagementApps.ReadWrite.All"], secret: secret)

    static func directory() throws -> DevelopmentDirectory {
        var directory = DevelopmentDirectory(tenantID: "tenant-1")
        let cheap = DirectoryPassword.Parameters(rounds: 1_024)
        try directory.addPerson(
            userPrincipalName: "ada@example.test", displayName: "Ada", password: "correct horse",
            roles: ["Managed apps Wipe"], id: "oid-a", parameters: cheap)
        try directory.addPerson(
            userPrincipalName: "bob@example.test", displayName: "Bob", password: "battery staple", id: "oid-b",
            parameters: cheap)
        try directory.addGroup(displayName: "Field", members: ["oid-a"], id: "group-f")
        return directory
    }

    /// Runs a test against the provider, without a server.
    func run(_ test: @Sendable (ProviderTestRun) async throws -> Void) async throws {
        let browser = ProviderBrowser { [provider] request, body in
            let answer = await provider.answer(
                request, body: body.count > DevelopmentIdentityProvider.largestBody ? nil : body)
            return (answer.head, answer.body)
        }
        try await test(ProviderTestRun(fixture: self, browser: browser))
    }
}

import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// Most providers know no organisations: their ID tokens carry no `tid`, and the service's tenant is any word.
@Suite(.timeLimit(.minutes(10))) struct ProviderWithoutTenantsTests {
    private static let issuer = "https://id.contoso.example"

    /// A device of a service that names this provider.
    private func device() async throws -> Device {
        let device = try Device()
        await device.service.set { $0.issuer = Self.issuer }
        try await device.publish(["printBlocked": .bool(true)])
        return device
    }

    /// Signs a person in at a provider.
    private func signedIn(_ person: FakePerson, on device: Device, at issuer: String) async throws -> ManagedAccount {
        let provider = FakeIdentityProvider(issuer: issuer)
        let client = try SignInClient(
            configuration: SignInConfiguration(issuer: provider.issuer, clientID: provider.clientID),
            transport: provider.transport,
            cache: try TokenCache(
                directory: device.folder.appending(path: "tokens"), secrets: MemorySecretStore()))
        return try await client.signIn(
            SignInRequest(scopes: ["mam.checkin"], resource: "check-in"),
            browser: provider.browser(signingInAs: person)
        ).account.managed
    }

    @Test func `an account without a tenant of its own is a member where its provider is the service's`() async throws {
        let device = try await device()
        let person = FakePerson("worker-a@contoso.example", subject: "oid-a")
        let account = try await signedIn(person, on: device, at: Self.issuer)
        #expect(account.tenant.rawValue == Self.issuer, "nothing but the issuer names its organisation")
        let protection = try await device.start()
        #expect(await protection.enroll(account) == .newPolicies)
        #expect(protection.enrolledAccounts == [device.account], "with the tenant of the service")
        #expect(await protection.checkIn(account.id) == .newPolicies)
        #expect(await (try device.start()).checkIn(account.id) == .newPolicies, "also after a restart")
    }

    @Test(
        arguments: [
            ("https://another.example", nil), (ProviderWithoutTenantsTests.issuer, "another"),
            (ProviderWithoutTenantsTests.issuer + ".test", nil),
        ] as [(String, String?)])
    func `a member of another organisation is told so`(issuer: String, tenant: String?) async throws {
        let device = try await device()
        let person = FakePerson("worker-a@contoso.example", subject: "oid-a", tenant: tenant)
        let account = try await signedIn(person, on: device, at: issuer)
        let protection = try await device.start()
        #expect(await protection.enroll(account) == .anotherOrganization)
        #expect(await device.service.registered.isEmpty)
    }
}

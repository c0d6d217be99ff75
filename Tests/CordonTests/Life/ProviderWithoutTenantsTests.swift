import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// Most providers know no organisations: their ID tokens carry no `tid`, and the service's tenant is any word.
@Suite(.timeLimit(.minutes(1))) struct ProviderWithoutTenantsTests {
    /// Signs somebody in at the provider that the service names.
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
        let device = try Device()
        try await device.publish(["printBlocked": .bool(true)])
        let person = FakePerson("worker-a@contoso.example", subject: "oid-a")
        let account = try await signedIn(person, on: device, at: "https://service.test/idp")
        #expect(account.tenant.rawValue == "https://service.test/idp", "nothing but the issuer names its organisation")
        let protection = try await device.start()
        #expect(await protection.enroll(account) == .newPolicies)
        #expect(await protection.enrolledAccounts == [device.account], "with the tenant of the service")
        #expect(await protection.checkIn(account.id) == .newPolicies)
        #expect(await (try device.start()).checkIn(account.id) == .newPolicies, "also after a restart")
    }

    @Test(
        arguments: [
            ("https://another.example", nil), ("https://service.test/idp", "another"),
            ("https://service.test/idp/x", nil),
        ] as [(String, String?)])
    func `a member of another organisation is told so`(issuer: String, tenant: String?) async throws {
        let device = try Device()
        try await device.publish(["printBlocked": .bool(true)])
        let person = FakePerson("worker-a@contoso.example", subject: "oid-a", tenant: tenant)
        let account = try await signedIn(person, on: device, at: issuer)
        let protection = try await device.start()
        #expect(await protection.enroll(account) == .anotherOrganization)
        #expect(await device.service.registered.isEmpty)
    }
}

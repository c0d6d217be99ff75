import CordonGraph
import CordonHTTPClient
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import CordonSignIn
import CordonTesting
import Foundation
import HTTPTypes
import Logging
import Testing

@testable import CordonCommand

/// The settings of `docs/providers.md` against tokens as each provider documents them.
@Suite struct ProviderPageTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let bundleID = "org.example.fieldnotes"

    @Test(arguments: DocumentedProvider.all)
    func `an operator gets from the page to a first check-in`(_ name: String, _ file: String) async throws {
        let provider = try DocumentedProvider(name, file)
        let key = try ProviderKey()
        try await serving(provider, key) { base, service, tenant, transport in
            // People and programs who administer.
            let owner = Administrator(tenant: tenant, id: "test", name: "test", roles: [.owner])
            for token in [try provider.administration, try provider.program] {
                let status = try await get(
                    base, "v1.0/deviceAppManagement/managedAppPolicies", try key.sign(token, at: Date()), transport)
                #expect(status == 200, "\(token.name)")
            }
            let policy = try await service.administration.createPolicy(
                .iosManagedAppProtection, document: ["displayName": "Notes"], as: owner)
            _ = try await service.administration.targetApps(
                [MobileAppIdentifier(.ios, Self.bundleID)], group: nil, ofPolicy: policy.id, as: owner)
            _ = try await service.administration.assignPolicy(
                policy.id, to: [PolicyAssignment(.allLicensedUsers)], as: owner)
            // An app.
            let checkIn = try provider.checkIn
            let rootKey = try await service.devices.discoveryFacts(of: tenant).rootKeyThumbprint
            let device = SimulatedDevice(
                service: base, pin: rootKey, account: try account(in: checkIn, tenant), bundleID: Self.bundleID,
                tag: "tag", transport: transport, isTokenBound: checkIn.isBound
            ) { try key.sign(checkIn, at: Date(), boundTo: $0.thumbprint) }
            #expect(try await device.register() == .newPolicies)
            #expect(try await device.checkIn().statusCode == .policiesUnchanged)
            let people = try await service.administration.users(as: owner)
            #expect(people.map(\.userPrincipalName).contains { $0.hasPrefix("worker-a") })
        }
    }

    @Test(arguments: DocumentedProvider.all)
    func `what comes near to a provider's tokens is refused, ID tokens above all`(
        _ name: String, _ file: String
    ) async throws {
        let provider = try DocumentedProvider(name, file)
        let key = try ProviderKey()
        let misses = try provider.nearMisses
        #expect(misses.count >= 4 && misses.contains { $0.name.contains("ID token") })
        try await withServeFolder { folder in
            let plan = try provider.plan(in: folder)
            let verifier = AccessTokenVerifier(
                rules: plan.server.tokenRules(of: plan.server.issuers), documents: key)
            for miss in misses {
                let text = try key.sign(miss, at: Date(), boundTo: "thumbprint")
                do throws(TokenRefusal) {
                    let token = try await verifier.verify(text, for: miss.side)
                    #expect(miss.reason == nil && !token.isApplication, "\(miss.name) was accepted")
                } catch {
                    #expect(miss.reason.map { error.reason.contains($0) } == true, "\(miss.name): \(error.reason)")
                }
            }
            // No documented token opens the other side.
            for token in [try provider.checkIn, try provider.administration, try provider.program] {
                let other: TokenAudience = token.side == .checkIn ? .administration : .checkIn
                let text = try key.sign(token, at: Date(), boundTo: "thumbprint")
                await #expect(throws: TokenRefusal.self, "\(token.name)") {
                    try await verifier.verify(text, for: other)
                }
            }
        }
    }

    @Test(arguments: DocumentedProvider.all)
    func `token explain says what speaks against a token on each side, and what it says`(
        _ name: String, _ file: String
    ) async throws {
        let provider = try DocumentedProvider(name, file)
        let key = try ProviderKey()
        try await withServeFolder { folder in
            let plan = try provider.plan(in: folder)
            func explain(_ token: DocumentedProvider.Token) async throws -> TokenExplanation {
                let text = try key.sign(token, at: Date(), boundTo: "thumbprint")
                let explanation = await ServeTokenCommand.Explain.explain("Bearer " + text, with: plan, documents: key)
                let printed = String(decoding: try JSONEncoder().encode(explanation), as: UTF8.self)
                #expect(!printed.contains(text.suffix(40)), "the token itself is not printed")
                return explanation
            }
            let checkIn = try await explain(try provider.checkIn)
            #expect(checkIn.checkIn?.isAccepted == true && checkIn.checkIn?.refusals == [])
            #expect(checkIn.administration?.refusals.contains { $0.contains("another side") } == true)
            #expect(checkIn.facts?.scopes.contains("mam.checkin") == true && checkIn.facts?.isProgram == false)
            let person = try await explain(try provider.administration)
            #expect(person.administration?.isAccepted == true && person.administration?.roles == ["owner"])
            let program = try await explain(try provider.program)
            #expect(program.facts?.isProgram == true)
            #expect(program.administration?.roles?.contains("deviceAdministrator") == true)
            for miss in try provider.nearMisses {
                guard let reason = miss.reason else { continue }
                let explanation = try await explain(miss)
                let side = miss.side == .checkIn ? explanation.checkIn : explanation.administration
                let said = (side?.refusals ?? []) + [explanation.refusal ?? ""]
                #expect(side?.isAccepted != true && said.contains { $0.contains(reason) }, "\(miss.name): \(said)")
            }
        }
    }

    /// The account as an app reads it from the ID token: the id that the service answers with.
    private func account(in token: DocumentedProvider.Token, _ tenant: TenantID) throws -> ManagedAccount {
        // Okta's ID tokens have in `sub` what its access tokens have in `uid`.
        let isOkta = token.claims["cid"] != nil
        let id = try #require((token.claims["oid"] ?? token.claims[isOkta ? "uid" : "sub"])?.string)
        return ManagedAccount(id: AccountID(id), tenant: tenant, userPrincipalName: "worker-a")
    }

    private func get(
        _ base: URL, _ path: String, _ token: String, _ transport: AsyncHTTPTransport
    ) async throws -> Int {
        var request = HTTPRequest(method: .get, url: base.appending(path: path))
        request.headerFields[.authorization] = "Bearer \(token)"
        return try await transport.send(request, body: nil, limit: 1 << 20, timeout: .seconds(30))
            .head.status.code
    }

    /// Runs a body while a service answers that has the page's settings.
    private func serving(
        _ provider: DocumentedProvider, _ key: ProviderKey,
        _ body: @escaping @Sendable (URL, ManagementService, TenantID, AsyncHTTPTransport) async throws -> Void
    ) async throws {
        try await withServeFolder { folder in
            let plan = try provider.plan(in: folder)
            let service = ManagementService(
                storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), configuration: plan.service,
                logger: Self.logger)
            try await service.open(plan.server.tenant)
            let server = try ServiceServer(
                plan.server, service: service, documents: key, extensions: [.graph], logger: Self.logger)
            let (ready, source) = AsyncStream.makeStream(of: URL.self)
            async let running: Void = server.run { source.yield($0.bound) }
            let transport = AsyncHTTPTransport()
            let outcome = await Result {
                let base = try #require(await ready.first { _ in true })
                try await body(base, service, plan.server.tenant, transport)
            }
            await transport.shutdown()
            await server.shutDown()
            try await running
            try outcome.get()
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

import CordonBase
import CordonConsole
import CordonDevelopmentProvider
import CordonGraph
import CordonIdentity
import CordonService
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// The console with the provider that `cordon serve --development` brings.
@Suite struct DevelopmentSignInTests {
    @Test func `a person signs in with a password on the provider's own page and sees the console`() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = ManagementService(storage: InMemoryStorage(), keyStore: InMemoryServiceKeyStore(), logger: logger)
        try await service.open(ConsoleFixture.tenant)
        let configuration = ServiceServerConfiguration(tenant: ConsoleFixture.tenant)
        var directory = DevelopmentDirectory(tenantID: ConsoleFixture.tenant.rawValue)
        _ = try directory.addPerson(
            userPrincipalName: "ada@contoso.example", displayName: "Ada", password: "correct horse", roles: ["owner"])
        let issuer = try #require(URL(string: ConsoleFixture.base + "/idp"))
        let provider = try DevelopmentIdentityProvider(
            directory: directory,
            configuration: .development(
                checkIn: configuration.checkInAudience, admin: configuration.mainAdministrationAudience),
            issuer: issuer)
        let embedded = EmbeddedProvider(
            path: DevelopmentIdentityProvider.path, routes: DevelopmentIdentityProvider.routes,
            largestBody: DevelopmentIdentityProvider.largestBody, start: { await provider.answer(at: $0) },
            answer: { await provider.answer($0, body: $1) },
            answerToken: { await provider.answerToken($0, body: $1, at: $2) },
            endSessions: { await provider.revokeGrants(ofPerson: $0) })
        let router = ServiceRouter(
            configuration: configuration, base: ConsoleFixture.base, issuer: issuer, service: service,
            documents: EmbeddedIssuer(provider: embedded), provider: embedded,
            extensions: [.graph, .console(ConsoleConfiguration(clientID: ConsoleConfiguration.developmentClient))],
            logger: logger, now: { Date() })
        try await Application(responder: router.responder(), logger: logger).test(.router) { client in
            let browser = Browser(client: client)
            let page = try await browser.get("/console/roles")
            #expect(page.text.contains("to continue to Cordon console"))
            let wrong = try await browser.submit(
                page, to: ConsoleFixture.base + "/idp/sign-in",
                [("username", "ada@contoso.example"), ("password", "wrong"), ("action", "sign-in")])
            #expect(wrong.text.contains("role=\"alert\""))
            let entered = try await browser.submit(
                wrong, to: ConsoleFixture.base + "/idp/sign-in",
                [("username", "ada@contoso.example"), ("password", "correct horse"), ("action", "sign-in")])
            #expect(entered.path == "/console/roles")
            #expect(entered.text.contains("<h1>Roles</h1>"))
            #expect(entered.text.contains("ada@contoso.example <small>owner</small>"))
        }
    }
}

import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// SRV-CI-006, SRV-CI-054, SRV-CI-055 over HTTP, with a device that checks every envelope.
@Suite(.timeLimit(.minutes(10))) struct CommandRoutesTests {
    /// A device on the router, without a socket.
    private struct RouterTransport: HTTPTransport {
        let client: any TestClientProtocol

        func send(
            _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswer {
            do {
                let answer = try await client.execute(
                    uri: request.path ?? "/", method: request.method, headers: request.headerFields,
                    body: body.map { ByteBuffer(bytes: $0) })
                return HTTPAnswer(
                    head: HTTPResponse(status: answer.status, headerFields: answer.headers),
                    body: Data(answer.body.readableBytesView))
            } catch {
                throw TransportError(.unreachable, reason: "no answer")
            }
        }

        func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
            throw TransportError(.unreachable, reason: "no streams here")
        }
    }

    private func device(_ client: TestClient) async throws -> SimulatedDevice {
        let (service, person) = (client.service, TestPerson.workerA)
        let clock = service.clock
        return SimulatedDevice(
            service: try #require(URL(string: TestService.base)),
            pin: try await service.service.devices.discoveryFacts(of: TestService.tenant).rootKeyThumbprint,
            account: ManagedAccount(
                id: AccountID(person.id), tenant: TestService.tenant, userPrincipalName: person.name),
            bundleID: TestDevice.bundleID, tag: "tag-1", transport: RouterTransport(client: client.client),
            now: { clock.now }
        ) { key in try service.issuer.token(TestIssuer.checkInClaims(person, key: key, at: clock.now)) }
    }

    @Test func `a commanded app is told until it has reported, and an administrator sees how far it is`() async throws {
        let service = try await TestService()
        try await service.test { client in
            _ = try await service.publishPolicy()
            let device = try await device(client)
            try await device.register()
            let id = await device.registrationID
            let path = "/admin/v1/registrations/\(id)/commands"
            for kind in ["refreshConfig", "reRegister", "resetPin"] {
                let asked = try await client.administer(.post, path, ["kind": .string(kind)])
                #expect(asked.status == .accepted && asked.json["state"] == "pending")
            }
            let told = try await device.checkIn()
            #expect(!told.unchanged && told.statusCode == .newPolicies)
            #expect(
                await Set(device.envelope?.commands.map(\.kind) ?? []) == [
                    .refreshConfiguration, .reRegister, .resetPIN,
                ])
            try await device.carryOutCommands()
            #expect(await device.registrationID == id)
            #expect(try await device.checkIn().unchanged)
            let list = try await client.administer(.get, path).json.array ?? []
            #expect(list.count == 3 && list.allSatisfy { $0["state"] == "succeeded" })
            #expect(try await client.administer(.get, "/admin/v1/commands").json.array?.count == 3)
            // A report of a command is none of a wipe.
            let counted = PrometheusText(service.metrics).text.split(separator: "\n")
                .filter { $0.hasPrefix("cordon_wipe_reports_total{") }
            #expect(!counted.isEmpty && counted.allSatisfy { $0.hasSuffix("} 0") })
        }
    }

    @Test func `a command is taken back until it is delivered, and needs the role`() async throws {
        let service = try await TestService()
        try await service.test { client in
            _ = try await service.publishPolicy()
            let device = try await device(client)
            try await device.register()
            let path = "/admin/v1/registrations/\(await device.registrationID)/commands"
            let reader = TestIssuer.administrationClaims(roles: ["reader"], at: service.clock.now)
            let body: JSONValue = ["kind": "resetPin"]
            #expect(try await client.administer(.post, path, body, claims: reader).status == .forbidden)
            for bad in ["wipe", "collectLogs", "sing"] {
                #expect(try await client.administer(.post, path, ["kind": .string(bad)]).status == .badRequest)
            }
            let nobody = "/admin/v1/registrations/nobody/commands"
            #expect(try await client.administer(.post, nobody, body).status == .notFound)
            let helpDesk = TestIssuer.administrationClaims(roles: ["helpDesk"], at: service.clock.now)
            let asked = try await client.administer(.post, path, body, claims: helpDesk)
            let command = "/admin/v1/commands/\(asked.json["id"]?.string ?? "")"
            #expect(try await client.administer(.delete, command, claims: reader).status == .forbidden)
            #expect(try await client.administer(.delete, command).json["state"] == "cancelled")
            #expect(try await device.checkIn().unchanged)
            #expect(try await client.administer(.delete, command).status == .conflict)
        }
    }

    @Test func `an organisation that is being moved answers 503 with 222`() async throws {
        let service = try await TestService()
        try await service.test { client in
            _ = try await service.publishPolicy()
            let device = try await device(client)
            try await device.register()
            let path = "/admin/v1/moving"
            let reader = TestIssuer.administrationClaims(roles: ["deviceAdministrator"], at: service.clock.now)
            #expect(try await client.administer(.put, path, ["moving": true], claims: reader).status == .forbidden)
            #expect(try await client.administer(.get, path).json["moving"] == false)
            #expect(try await client.administer(.put, path, ["moving": true]).status == .noContent)
            #expect(try await client.administer(.get, path).json["moving"] == true)
            let failure = await #expect(throws: ServiceError.self) { try await device.checkIn() }
            #expect(failure?.status == .tenantMigration && failure?.reason.contains("503") == true)
            #expect(try await client.administer(.put, path, ["moving": false]).status == .noContent)
            #expect(try await device.checkIn().statusCode == .policiesUnchanged)
        }
    }
}

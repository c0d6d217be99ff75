import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// What a shared device says of itself, and what it is told: whether the person on it may stay (SI-157, SI-182).
@Suite struct SharedDeviceReportTests {
    private let key = SoftwareSigningKey()
    private static let id = "ward-3"

    /// A service that the device has joined.
    private func joined() async throws -> TestService {
        let service = try await TestService()
        let facts = DeviceRegistrationStatement(
            deviceID: Self.id, tenant: TestService.tenant, issuer: TestIssuer.name,
            keyThumbprint: key.publicKey.thumbprint, since: service.clock.now)
        let text = try CompactJWS.sign(
            MessageCoding.encode(facts), type: .deviceRegistration, with: key, embedsKey: true)
        _ = try await service.service.administration.registerDevice(text, name: nil, as: TestService.owner)
        return service
    }

    private func report(_ statement: DeviceSessionStatement, _ client: TestClient) async throws -> TestResponse {
        let body: JSONValue = ["statement": .string(try statement.signed(by: key))]
        return try await client.client.execute(
            uri: "/cordon/v1/devices/\(Self.id)/session", method: .post, headers: [.contentType: "application/json"],
            body: ByteBuffer(string: body.text()))
    }

    /// What the device is told of a person who signed in so many seconds ago.
    private func mayStay(
        _ person: TestPerson, age: Int64?, since: Date = .distantPast, session: Int64 = 1, _ client: TestClient
    ) async throws -> Bool {
        let answer = try await report(
            DeviceSessionStatement(
                deviceID: Self.id, session: session, account: AccountID(person.id),
                since: Int64(since.timeIntervalSince1970), age: age), client)
        guard answer.status == .ok else {
            #expect(answer.status == .noContent)
            return true
        }
        #expect(String(buffer: answer.body) == #"{"ends":true}"#)
        return false
    }

    @Test func `who signed in before a revocation has to leave, who signed in after it and every other person stays`()
        async throws
    {
        let service = try await joined()
        try await service.test { client in
            #expect(try await mayStay(.workerA, age: 5, client))
            try await service.service.provisioning.apply(
                AccountSignal(.sessionsRevoked, of: TestPerson.workerA.name, at: service.clock.now),
                from: "https://login.example", of: TestService.tenant)
            #expect(try await mayStay(.workerA, age: 5, client) == false)
            // The device's own clock plays no part where it says how long ago it was.
            #expect(try await mayStay(.workerA, age: 5, since: .distantFuture, client) == false)
            service.clock.advance(by: 60)
            #expect(try await mayStay(.workerA, age: 61, client) == false)
            #expect(try await mayStay(.workerA, age: 59, client))
            #expect(try await mayStay(.workerA, age: nil, since: service.clock.now, client), "an older broker")
            #expect(try await mayStay(.workerA, age: nil, since: service.clock.now - 61, client) == false)
            #expect(try await mayStay(.workerB, age: 3_600, session: 2, client))
            // From an older copy of a broker that sends no nonce: whom it names is looked at all the same.
            #expect(try await mayStay(.workerA, age: 3_600, client) == false)
            #expect(try await mayStay(.workerA, age: 59, client))
        }
    }

    @Test func `a device that runs on an older copy of itself is told the newest session it reported`() async throws {
        let service = try await joined()
        try await service.test { client in
            // The last one is as new as what is known: an old statement changed nothing.
            for (session, told) in [(4, ""), (9, ""), (4, #"{"ends":true,"session":9}"#), (9, "")] {
                let statement = DeviceSessionStatement(
                    deviceID: Self.id, session: Int64(session), account: AccountID(TestPerson.workerA.id), since: 0,
                    age: 5, issued: 1_800_000_000, nonce: "n\(session)")
                let answer = try await report(statement, client)
                #expect(String(buffer: answer.body) == told)
            }
        }
    }

    @Test func `a disabled account has to leave, whenever it signed in`() async throws {
        let service = try await joined()
        try await service.test { client in
            try await service.service.provisioning.apply(
                AccountSignal(.accountDisabled, of: TestPerson.workerA.id, at: service.clock.now),
                from: "https://login.example", of: TestService.tenant)
            service.clock.advance(by: 60)
            #expect(try await mayStay(.workerA, age: 0, session: 5, client) == false)
            #expect(try await mayStay(.workerA, age: 0, session: 4, client) == false, "an older broker's older copy")
        }
    }

    private func statement(_ apps: [SharedDeviceApp]?, session: Int64) -> DeviceSessionStatement {
        DeviceSessionStatement(deviceID: Self.id, session: session, account: nil, since: 1_800_000_000, apps: apps)
    }

    @Test func `a device that goes on saying the same is seen, also while no person comes or goes`() async throws {
        let service = try await joined()
        try await service.test { client in
            func seen() async throws -> String? {
                try await client.administer(.get, "/admin/v1/devices").json.array?.first?["lastSeen"]?.string
            }
            #expect(try await report(statement(nil, session: 1), client).status == .noContent)
            let first = try await seen()
            service.clock.advance(by: 60)
            #expect(try await report(statement(nil, session: 1), client).status == .noContent)
            #expect(try await seen() == first)
            service.clock.advance(by: 3_600)
            #expect(try await report(statement(nil, session: 1), client).status == .noContent)
            let later = try await seen()
            #expect(first != nil && later != nil && later != first)
        }
    }

    @Test func `an administrator reads which apps take part`() async throws {
        let service = try await joined()
        let apps = [
            SharedDeviceApp(name: "FieldNotes", bundleID: "example.notes", support: .used),
            SharedDeviceApp(name: "Legacy", bundleID: nil, support: .installed),
        ]
        try await service.test { client in
            func listed() async throws -> JSONValue? {
                try await client.administer(.get, "/admin/v1/devices").json.array?.first?["apps"]
            }
            let first = try await report(statement([], session: 1), client)
            #expect(first.status == .noContent)
            // The list changes while no person comes or goes; a broker that tells nothing changes nothing.
            #expect(try await report(statement(apps, session: 1), client).status == .noContent)
            let expected: JSONValue = [
                ["bundleID": "example.notes", "name": "FieldNotes", "support": "used"],
                ["name": "Legacy", "support": "installed"],
            ]
            #expect(try await listed() == expected)
            #expect(try await report(statement(nil, session: 2), client).status == .noContent)
            #expect(try await listed() == expected)
            let many = Array(repeating: SharedDeviceApp(name: "x", bundleID: nil, support: .absent), count: 201)
            #expect(try await report(statement(many, session: 3), client).status == .badRequest)
            #expect(try await listed() == expected)
        }
    }
}

import CordonBase
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

/// A provider that binds no token to a key: the registration's own key is proved instead.
@Suite struct RegistrationKeyTests {
    /// Sends a request with a token as it is, under a scheme, and a proof by the device's key.
    private func send(
        _ client: TestClient, _ path: String, as device: TestDevice, _ token: String, scheme: String = "Bearer",
        omitsProof: Bool = false, _ body: some Encodable & Sendable
    ) async throws -> (status: Int, text: String) {
        var headers: HTTPFields = [.authorization: "\(scheme) \(token)", .contentType: "application/json"]
        if !omitsProof { headers[.dpop] = try await client.proof(device, .post, path, token: token) }
        let answer = try await client.client.execute(
            uri: path, method: .post, headers: headers, body: ByteBuffer(bytes: try MessageCoding.encode(body)))
        return (answer.status.code, String(buffer: answer.body))
    }

    private func token(
        _ service: TestService, _ person: TestPerson = .workerA, made age: TimeInterval = 0,
        boundTo device: TestDevice? = nil
    ) throws -> String {
        let made = service.clock.now.addingTimeInterval(-age)
        var claims = TestIssuer.checkInClaims(person, key: TestDevice().key.publicKey, at: made)
        claims["exp"] = .integer(Int64(made.timeIntervalSince1970) + 3_600)
        claims["cnf"] = device.map { ["jkt": .string($0.key.publicKey.thumbprint)] }
        return try service.issuer.token(claims)
    }

    private func withService(_ body: @escaping @Sendable (TestService, TestClient) async throws -> Void) async throws {
        var profile = IssuerProfile()
        profile.checkInProof = .registration
        let service = try await TestService(profile: profile)
        _ = try await service.publishPolicy()
        try await service.test { try await body(service, $0) }
    }

    private static let registrations = "/mam/v1/registrations"

    /// Enrols; the path of the registration's check-ins.
    private func enrol(_ service: TestService, _ client: TestClient, _ device: TestDevice) async throws -> String {
        let (status, text) = try await send(
            client, Self.registrations, as: device, try token(service), device.registration)
        try #require(status == 201, "\(text)")
        let result = try MessageCoding.decode(RegistrationResult.self, from: Data(text.utf8))
        return "\(Self.registrations)/\(result.registrationID)/checkins"
    }

    @Test func `the key that came with a fresh token is the one that every check-in proves`() async throws {
        try await withService { service, client in
            let (device, thief) = (TestDevice(), TestDevice(tag: "tag-2"))
            let path = try await enrol(service, client, device)
            let late = try token(service, made: 3_000)
            let own = try await send(client, path, as: device, late, device.checkIn(at: service.clock.now))
            #expect(own.status == 200, "a check-in takes a token of any age: \(own.text)")
            let same = try await send(client, path, as: thief, late, thief.checkIn(at: service.clock.now))
            #expect(same.status == 401 && same.text.contains("another key before"), "\(same.text)")
            let other = try await send(
                client, path, as: thief, try token(service), thief.checkIn(at: service.clock.now))
            #expect(other.status == 403 && other.text.contains("wrong-key"), "\(other.text)")
            let stranger = try token(service, .workerB)
            let person = try await send(client, path, as: device, stranger, device.checkIn(at: service.clock.now))
            #expect(person.status == 403, "\(person.text)")
        }
    }

    @Test func `a token enrols within ten minutes of its making, and with the first key that it came with alone`()
        async throws
    {
        try await withService { service, client in
            let (device, thief) = (TestDevice(), TestDevice(tag: "tag-2"))
            for (age, status) in [(601.0, 401), (599.0, 201)] {
                let answer = try await send(
                    client, Self.registrations, as: device, try token(service, made: age), device.registration)
                #expect(answer.status == status, "\(age) \(answer.text)")
            }
            let shared = try token(service)
            let first = try await send(client, Self.registrations, as: device, shared, device.registration)
            #expect(first.status == 200)
            let second = try await send(client, Self.registrations, as: thief, shared, thief.registration)
            #expect(second.status == 401 && second.text.contains("another key before"), "\(second.text)")
            // However often it is tried, the person's enrolments of an hour are left to the person.
            for _ in 0..<5 {
                let again = try await send(client, Self.registrations, as: thief, shared, thief.registration)
                #expect(again.status == 401)
            }
            let own = try await send(client, Self.registrations, as: device, shared, device.registration)
            #expect(own.status == 200, "\(own.text)")
        }
    }

    /// The same token with the other signature that is as good: ECDSA takes (r, n - s) where it takes (r, s).
    private func resigned(_ token: String) throws -> String {
        let parts = token.split(separator: ".").map(String.init)
        var signature = [UInt8](try #require(Base64URL.decode(parts[2])))
        let high: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 8)
        let low: [UInt8] = [
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        var borrow = 0
        for (index, byte) in (high + low).enumerated().reversed() {
            let rest = Int(byte) - Int(signature[32 + index]) - borrow
            borrow = rest < 0 ? 1 : 0
            signature[32 + index] = UInt8(truncatingIfNeeded: rest)
        }
        return "\(parts[0]).\(parts[1]).\(Base64URL.encode(Data(signature)))"
    }

    @Test func `a token with its signature written otherwise is the same token`() async throws {
        try await withService { service, client in
            let (device, thief) = (TestDevice(), TestDevice(tag: "tag-2"))
            let shared = try token(service)
            let other = try resigned(shared)
            #expect(other != shared)
            let own = try await send(client, Self.registrations, as: device, shared, device.registration)
            #expect(own.status == 201, "\(own.text)")
            let stolen = try await send(client, Self.registrations, as: thief, other, thief.registration)
            #expect(stolen.status == 401 && stolen.text.contains("another key before"), "\(stolen.text)")
            // The control: the other signature is good.
            let again = try await send(client, Self.registrations, as: device, other, device.registration)
            #expect(again.status == 200, "\(again.text)")
        }
    }

    @Test func `a request that was held back binds its token to no key, so that the limits bound what is remembered`()
        async throws
    {
        try await withService { service, client in
            let (device, other) = (TestDevice(), TestDevice(tag: "tag-2"))
            let path = try await enrol(service, client, device)
            func status(_ token: String) async throws -> Int {
                try await send(client, path, as: device, token, device.checkIn(at: service.clock.now)).status
            }
            let used = try token(service)
            var last = 200
            for _ in 0..<20 where last == 200 { last = try await status(used) }
            #expect(last == 429)
            let heldBack = try token(service)
            #expect(try await status(heldBack) == 429)
            service.clock.advance(by: 60)
            for (token, isBound) in [(heldBack, false), (used, true)] {
                let answer = try await send(client, path, as: other, token, other.checkIn(at: service.clock.now))
                #expect(answer.text.contains("another key before") == isBound, "\(answer.text)")
            }
        }
    }

    @Test func `neither proof nor the binding of a token can be left out by another scheme`() async throws {
        try await withService { service, client in
            let (device, thief) = (TestDevice(), TestDevice(tag: "tag-2"))
            let (free, bound) = (try token(service), try token(service, boundTo: device))
            let attacks: [(String, TestDevice, String, Bool)] = [
                (free, device, "DPoP", false), (free, device, "Bearer", true), (bound, device, "Bearer", false),
                (bound, thief, "Bearer", false), (bound, thief, "DPoP", false), (free, device, "Basic", false),
            ]
            for (index, (token, sender, scheme, omitsProof)) in attacks.enumerated() {
                let answer = try await send(
                    client, Self.registrations, as: sender, token, scheme: scheme, omitsProof: omitsProof,
                    sender.registration)
                #expect(answer.status == 401, "\(index) \(answer.text)")
            }
            let good = try await send(
                client, Self.registrations, as: device, bound, scheme: "DPoP", device.registration)
            #expect(good.status == 201, "\(good.text)")
        }
    }

    @Test func `discovery says which key is proved and what to ask the provider for`() async throws {
        var profile = IssuerProfile()
        profile.checkInProof = .registration
        profile.checkInAudience = "api-guid"
        profile.tokenRequest = .init(scopes: ["api://api-guid/mam.checkin"])
        let service = try await TestService(profile: profile)
        try await service.test { client in
            let answer = try await client.client.execute(uri: "/.well-known/cordon-mam", method: .get)
            let document = try MessageCoding.decode(ServiceDiscovery.self, from: Data(answer.body.readableBytesView))
            #expect(document.proof == .registration && document.resource == "api-guid")
            #expect(document.asked == .init(scopes: ["api://api-guid/mam.checkin"]))
            let other = try await client.client.execute(uri: "/.well-known/oauth-protected-resource", method: .get)
            #expect(String(buffer: other.body).contains(#""dpop_bound_access_tokens_required":false"#))
        }
    }

    @Test
    func `keys that came with tokens are forgotten when the tokens end, and the older half when there are too many`() {
        let users = TokenUsers(capacity: 4)
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        func admit(_ token: String, _ key: String, _ life: TimeInterval = 60, at later: TimeInterval = 0) -> Bool {
            let moment = now.addingTimeInterval(later)
            return users.admit(token, provedBy: key, until: moment.addingTimeInterval(life), at: moment)
        }
        for (index, token) in ["a", "b", "c", "d"].enumerated() { #expect(admit(token, "k", 60 + Double(index))) }
        #expect(!admit("d", "other") && admit("d", "k"))
        #expect(admit("e", "k", 90))
        #expect(!admit("d", "other"), "the younger half stays")
        #expect(admit("a", "other"), "the older half is gone")
        for token in ["f", "g", "h"] { #expect(admit(token, "k", at: 1_000)) }
        #expect(admit("d", "other", at: 1_000), "an ended token is forgotten")
    }

    @Test func `tokens that have ended are not remembered until there is no room`() {
        let users = TokenUsers()
        for second in 0..<5_000 {
            let moment = Date(timeIntervalSince1970: 1_800_000_000 + Double(second))
            #expect(users.admit("\(second).", provedBy: "k", until: moment.addingTimeInterval(60), at: moment))
        }
        #expect(users.count <= 1_200)
    }
}

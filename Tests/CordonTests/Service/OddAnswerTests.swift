import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import Cordon

/// Every answer that the service's client reads, with every member in every wrong form, whole and in pieces, and with every status: a
/// message or a failure, and what comes of it can be used.
struct OddAnswerTests {
    typealias Ask = @Sendable (ServiceClient) async throws(ServiceFailure) -> Void

    /// An honest answer, and who asks for it.
    struct Route: Sendable, CustomStringConvertible {
        let description: String
        let answer: Data
        let ask: Ask
    }

    private static let time = Date(timeIntervalSince1970: 1_800_000_000)
    private static let application = ApplicationFacts(bundleID: "example.notes", version: "1.0", sdkVersion: "0.1")
    private static let phone = DeviceDescription(tag: "t", osVersion: "1", model: "m")
    private static let account = ManagedAccount(id: "oid-a", tenant: TenantID("t"), userPrincipalName: "a@b.example")

    private static func discovery() throws -> ServiceDiscovery {
        let url = try #require(URL(string: "https://service.test/mam/v1"))
        return ServiceDiscovery(
            tenant: TenantID("t"), issuer: url, checkIn: url, resource: "r", scope: "s", keys: url, versions: [1],
            proof: .token, tokenRequest: .init(scopes: ["s"], resource: "r"))
    }

    private static func routes() throws -> [Route] {
        func route(_ name: String, _ answer: some Encodable, _ ask: @escaping Ask) throws -> Route {
            Route(description: name, answer: try MessageCoding.encode(answer), ask: ask)
        }
        let (root, signing) = (SoftwareSigningKey(), SoftwareSigningKey())
        let delegation = try KeyDelegation(of: signing.publicKey, from: time, until: time + 60, root: root)
        let keys = try SignedKeySet(
            [signing.publicKey], validFrom: time, until: time + 60, delegate: signing, under: delegation)
        let pin = root.publicKey.thumbprint
        return [
            try route("discovery", discovery()) { client throws(ServiceFailure) in
                let service = URL(string: "https://service.test") ?? client.discovery.checkIn
                _ = try await ServiceClient.discover(at: service, over: client.transport).asked
            },
            try route("keys", keys) { client throws(ServiceFailure) in
                let keys = try await client.keySet()
                _ = (try? keys.verified(pin: pin, at: time), keys.version, try? keys.embeddedRoot())
            },
            try route(
                "registration",
                RegistrationResult(
                    registrationID: "r", account: account, statusCode: .newPolicies, serviceTime: time,
                    nextCheckInSeconds: 60, envelope: "e")
            ) { client throws(ServiceFailure) in
                let request = RegistrationRequest(
                    application: application, device: phone, source: .appRegistered, nonce: "n")
                let result = try await client.register(request, token: "t")
                _ = Intervals { 1 }.afterCheckIn(serviceAsksFor: result.nextCheckInSeconds)
            },
            try route(
                "check-in",
                CheckInResponse(
                    statusCode: .newPolicies, unchanged: false, serviceTime: time, nextCheckInSeconds: 60,
                    envelope: "e", contact: "c")
            ) { client throws(ServiceFailure) in
                let request = CheckInRequest(
                    appliedSequence: 1, appliedVersion: nil, appliedDigest: nil, application: application,
                    device: phone, health: [], clientTime: time, nonce: "n")
                let response = try await client.checkIn(request, registration: "r", token: "t")
                _ = Intervals { 1 }.afterCheckIn(serviceAsksFor: response.nextCheckInSeconds)
            },
            try route("compliance", ComplianceReport(.compliant, textID: nil)) { client throws(ServiceFailure) in
                _ = try await client.compliance(
                    RemediationRequest(silent: true, health: []), registration: "r", token: "t")
            },
            try route("evidence", AppEvidenceResult(nextEvidenceSeconds: 60)) { client throws(ServiceFailure) in
                let evidence = AppEvidence(.appleAppAttest, keyID: "k", nonce: "n")
                _ = try await client.show(evidence, registration: "r", token: "t")
            },
            try route("share", RecoveryShare(sealed: "s")) { client throws(ServiceFailure) in
                _ = try await client.releaseShare(registration: "r", token: "t").digest
            },
        ]
    }

    /// What came of an answer: nil for a message that was taken.
    private func failure(
        of route: Route, answering body: Data, status: Int = 200, fields: HTTPFields = [:]
    ) async throws -> ServiceFailure? {
        var head = HTTPResponse(status: .init(code: status))
        head.headerFields = fields
        let client = ServiceClient(
            discovery: try Self.discovery(), transport: Canned(answer: HTTPAnswer(head: head, body: body)),
            signer: SoftwareSigningKey(), now: { Self.time })
        do throws(ServiceFailure) {
            try await route.ask(client)
            return nil
        } catch {
            #expect(TerminalText.isSafe(error.reason), "\(route)")
            let wait = Intervals { 1 }.afterFailedCheckIn(
                error.status(network: .checkInNetworkFailure), failures: 1, retryAfter: error.retryAfter)
            #expect((1...200_000).contains(wait), "\(route)")
            return error
        }
    }

    @Test func `every member of every answer in every wrong form is an error, or is taken for what it says`()
        async throws
    {
        for route in try Self.routes() {
            #expect(try await failure(of: route, answering: route.answer) == nil, "\(route)")
            let value = try JSONValue(parsing: route.answer)
            var refused = 0
            for place in Place.all(in: value) {
                for form in WrongForm.all {
                    let body = Data(place.text(of: value, as: form).utf8)
                    if try await failure(of: route, answering: body) != nil { refused += 1 }
                }
            }
            #expect(refused > 20, "\(route)")
        }
    }

    @Test func `a body that is no message is none, whatever it begins or ends with`() async throws {
        for route in try Self.routes() {
            for body in WrongBody.allCases {
                let failure = try await failure(of: route, answering: body.bytes(of: route.answer))
                #expect(!body.isNone || failure != nil, "\(route) \(body)")
            }
        }
    }

    @Test(arguments: [100, 204, 206, 299, 300, 304, 399, 401, 423, 451, 499, 500, 599, 600, 999], ["", "7"])
    func `no status makes an answer more than it is`(status: Int, wait: String) async throws {
        for route in try Self.routes() {
            for value in [wait, "-1", "9223372036854775807", "9223372036854775808", "1e9", "nan"] {
                let fields: HTTPFields = [.retryAfter: value, .contentEncoding: "gzip", .contentType: "image/png"]
                let failure = try await failure(of: route, answering: Data(), status: status, fields: fields)
                #expect(failure != nil, "\(route)")
            }
            let isTaken = try await self.failure(of: route, answering: route.answer, status: status) == nil
            #expect(!isTaken || status == 423 || (200..<300).contains(status), "\(route)")
        }
    }
}

/// Gives one answer.
private struct Canned: HTTPTransport {
    let answer: HTTPAnswer

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer { answer }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        throw TransportError(.unreachable, reason: "no event stream here")
    }
}

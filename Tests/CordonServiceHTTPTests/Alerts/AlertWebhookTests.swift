import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import CordonServiceHTTP
import CordonTestSupport
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

/// SRV-TG-29: an alert is posted in a form that receivers of Standard Webhooks verify.
@Suite struct AlertWebhookTests {
    private static let secret = Data((0..<32).map { UInt8($0) })
    private static let alert = OperatorAlert(
        id: "alert-1", kind: .wipeFailed, time: Date(timeIntervalSince1970: 1_800_000_000), operationID: "operation-1",
        registrationID: "registration-1", userID: "oid-ada", bundleID: "com.example.notes", attempts: 3)

    /// What a receiver got.
    private struct Delivery: Sendable {
        var headers: HTTPFields
        var body: String
    }

    private func withSecret(
        _ text: String, mode: Int = 0o600, _ body: (URL) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "secret")
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        try await body(file)
    }

    private func webhook(_ address: String, _ file: URL) throws -> AlertWebhook {
        try AlertWebhook(
            address: #require(URL(string: address)), secretFile: file,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { Date(timeIntervalSince1970: 1_800_000_060) })
    }

    /// Delivers to a receiver that answers with the status, and says what came and whether it counts as taken.
    private func deliver(
        to status: HTTPResponse.Status, secrets: [Data] = [secret],
        _ send: @escaping @Sendable (AlertWebhook) async -> Bool = {
            await $0.deliver(alert, of: TenantID("contoso"))
        }
    ) async throws -> (isTaken: Bool, deliveries: [Delivery]) {
        let deliveries = Locked<[Delivery]>([])
        let router = Router()
        router.post("/alerts") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 16)
            deliveries.withLock {
                $0.append(Delivery(headers: request.headers, body: String(buffer: body)))
            }
            return Response(status: status, headers: [.location: "/alerts"])
        }
        let isTaken = Locked(false)
        try await Application(router: router).test(.live) { client in
            let port = client.port ?? 0
            let text = secrets.map { "whsec_\($0.base64EncodedString())\n" }.joined()
            try await withSecret(text) { file in
                let answer = try await send(webhook("http://127.0.0.1:\(port)/alerts", file))
                isTaken.withLock { $0 = answer }
            }
        }
        return (isTaken.withLock { $0 }, deliveries.withLock { $0 })
    }

    @Test func `records of the audit log are posted in the same form, as an export has them`() async throws {
        let record = AuditRecord(
            after: nil, tenant: TenantID("contoso"), time: 1_800_000_000, actor: .init(.service, id: "service"),
            action: "policy.update", target: "policy/T_1", outcome: .done, details: ["version": "v"])
        let batch = AuditBatch(after: 0, records: [record])
        let (isTaken, deliveries) = try await deliver(to: .noContent) { webhook in
            await webhook.deliver(batch, of: TenantID("contoso"))
        }
        #expect(isTaken)
        let delivery = try #require(deliveries.first)
        let body = try JSONValue(parsing: Data(delivery.body.utf8))
        #expect(body["type"] == "audit.records" && body["data"]?["after"] == 0)
        let line = body["data"]?["records"]?.array?.first?.text() ?? ""
        #expect(try AuditRecord(line: line) == record)
        let failed = try await deliver(to: .internalServerError) { webhook in
            await webhook.deliver(batch, of: TenantID("contoso"))
        }
        #expect(!failed.isTaken)
    }

    @Test func `what is the matter with the service is posted in the same form`() async throws {
        let notice = ConditionNotice(
            id: "notice-1", stage: .began, since: Date(timeIntervalSince1970: 1_800_000_000),
            condition: ServiceCondition(
                .provider, of: "https://id.example", "keys cannot be fetched", ["reason": "down"]))
        let (isTaken, deliveries) = try await deliver(to: .ok) { await $0.deliver(notice, of: TenantID("contoso")) }
        let delivery = try #require(deliveries.first)
        #expect(isTaken && HTTPField.Name("webhook-id").flatMap { delivery.headers[$0] } == "notice-1")
        let body = try JSONValue(parsing: Data(delivery.body.utf8))
        #expect(body["type"] == "service.condition" && body["timestamp"] == "2027-01-15T08:00:00Z")
        #expect(
            body["data"] == [
                "tenant": "contoso", "condition": "provider.unreachable", "subject": "https://id.example",
                "state": "began", "message": "keys cannot be fetched", "details": ["reason": "down"],
            ])
    }

    @Test func `while a secret is replaced both sign, and a receiver that has either verifies`() async throws {
        let next = Data((100..<132).map { UInt8($0) })
        let (_, deliveries) = try await deliver(to: .ok, secrets: [next, Self.secret])
        let delivery = try #require(deliveries.first)
        let signatures = HTTPField.Name("webhook-signature").flatMap { delivery.headers[$0] }?.split(separator: " ")
        let signed = Data("alert-1.1800000060.\(delivery.body)".utf8)
        let expected = [next, Self.secret].map { key in
            "v1,"
                + Data(HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: key)))
                .base64EncodedString()
        }
        #expect(signatures?.map(String.init) == expected)
    }

    @Test func `what is posted is signed, and names ids alone`() async throws {
        let (isTaken, deliveries) = try await deliver(to: .noContent)
        #expect(isTaken && deliveries.count == 1)
        let delivery = try #require(deliveries.first)
        func header(_ name: String) -> String { HTTPField.Name(name).flatMap { delivery.headers[$0] } ?? "" }
        #expect(header("webhook-id") == "alert-1" && header("webhook-timestamp") == "1800000060")
        let signed = "alert-1.1800000060.\(delivery.body)"
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: Self.secret))
        #expect(header("webhook-signature") == "v1," + Data(code).base64EncodedString())
        let body = try JSONValue(parsing: Data(delivery.body.utf8))
        #expect(body["type"] == "wipe.failed" && body["timestamp"] == "2027-01-15T08:00:00Z")
        #expect(
            body["data"] == [
                "tenant": "contoso", "operation": "operation-1", "registration": "registration-1", "user": "oid-ada",
                "app": "com.example.notes", "attempts": 3,
            ])
    }

    @Test func `an answer with a status that no answer has is no delivery, and the service lives on`() async throws {
        let receiver = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n")
            connection.waitForEnd()
        }
        defer { receiver.stop() }
        try await withSecret("whsec_\(Self.secret.base64EncodedString())\n") { file in
            let webhook = try webhook("http://127.0.0.1:\(receiver.port)/alerts", file)
            #expect(await webhook.deliver(Self.alert, of: TenantID("contoso")) == false)
        }
    }

    @Test(arguments: [HTTPResponse.Status.temporaryRedirect, .internalServerError, .unauthorized])
    func `an answer that is none of success is no delivery, and a redirect is not followed`(
        status: HTTPResponse.Status
    ) async throws {
        let (isTaken, deliveries) = try await deliver(to: status)
        #expect(!isTaken && deliveries.count == 1)
    }

    @Test func `a receiver that is not there is no delivery`() async throws {
        try await withSecret("whsec_\(Self.secret.base64EncodedString())") { file in
            // Port 9 is for discarding, and no program listens there.
            let isTaken = try await webhook("http://127.0.0.1:9/", file).deliver(Self.alert, of: TenantID("contoso"))
            #expect(!isTaken)
        }
    }

    @Test(arguments: [
        ("whsec_AAAA", 0o600), ("whsec_" + secret.base64EncodedString(), 0o644), (secret.base64EncodedString(), 0o600),
    ])
    func `a secret that is short, readable by everyone or none is refused`(_ text: String, _ mode: Int) async throws {
        try await withSecret(text, mode: mode) { file in
            #expect(throws: ProgramError(.configurationInvalid, reason: "", place: "", hint: "")) {
                _ = try webhook("https://alerts.example.test/", file)
            }
        }
    }

    @Test(arguments: [
        "http://alerts.example.test/", "ftp://127.0.0.1/", "https://", "https://alerts.example.test:65536/",
        "http://127.0.0.1:99999/",
    ])
    func `alerts are posted by https alone, but for loopback`(_ address: String) async throws {
        try await withSecret("whsec_\(Self.secret.base64EncodedString())", mode: 0o640) { file in
            #expect(throws: ProgramError(.configurationInvalid, reason: "", place: "", hint: "")) {
                _ = try webhook(address, file)
            }
        }
    }
}

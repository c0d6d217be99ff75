internal import AsyncHTTPClient
internal import CordonBase
internal import CordonHTTPGuard
public import CordonIdentity
internal import CordonPolicy
public import CordonProtocol
public import CordonService
internal import Crypto
public import Foundation
public import Logging
internal import NIOCore
internal import NIOHTTP1

/// Posts alerts to a receiver of the operator's, signed as Standard Webhooks has it: `webhook-id`, `webhook-timestamp`, and in
/// `webhook-signature` the HMAC-SHA-256 of `id.timestamp.body`.
///
/// A redirect is not followed, since it would hand the alert to another server.
public struct AlertWebhook: Sendable {
    /// How long one delivery may take.
    private static let timeout = TimeAmount.seconds(10)
    /// What a secret begins with; the rest is Base64 of 24 to 64 bytes.
    private static let prefix = "whsec_"

    private let address: URL
    /// The secrets, each of which signs; a receiver needs one of them.
    private let keys: [SymmetricKey]
    private let logger: Logger
    private let now: @Sendable () -> Date

    /// Reads the secret.
    ///
    /// - Parameters:
    ///   - address: Where to post, https; plain http on loopback alone.
    ///   - secretFile: A file with `whsec_` and 24 to 64 bytes as Base64, which only its owner and group may read. While a
    ///     secret is replaced, the new one and the one before, a line each.
    /// - Throws: ``ProgramError`` with code `configurationInvalid` for an address or a file that cannot be used.
    public init(
        address: URL, secretFile: URL, logger: Logger, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(ProgramError) {
        if let flaw = AddressFlaw(of: address) {
            throw ProgramError(
                .configurationInvalid, reason: "where alerts are posted \(flaw.predicate)", place: "alertWebhook",
                hint: "give an https address; plain http is for loopback")
        }
        self.address = address
        self.keys = try Self.secrets(in: secretFile)
        self.logger = logger
        self.now = now
    }

    /// Posts an alert; whether the receiver took it, which it says with any status of 200 to 299 within ten seconds.
    public func deliver(_ alert: OperatorAlert, of tenant: TenantID) async -> Bool {
        await post(alert.id, alert.kind.rawValue, alert.time, Self.data(of: alert, of: tenant))
    }

    /// Posts a batch of the audit log, as ``deliver(_:of:)-(OperatorAlert,_)`` does. Its records are as an export has them, each with its
    /// hash, so that a receiver can check the chain; signed heads are among them.
    public func deliver(_ batch: AuditBatch, of tenant: TenantID) async -> Bool {
        let records = batch.records.compactMap { try? JSONValue(parsing: Data($0.line.utf8)) }
        guard records.count == batch.records.count else { return false }
        let data: JSONValue = [
            "tenant": .string(tenant.rawValue), "after": .integer(batch.after), "records": .array(records),
        ]
        return await post(batch.id, "audit.records", now(), data)
    }

    /// Posts what is the matter with the service, as ``deliver(_:of:)-(OperatorAlert,_)`` does.
    package func deliver(_ notice: ConditionNotice, of tenant: TenantID) async -> Bool {
        let condition = notice.condition
        var data: [String: JSONValue] = [
            "tenant": .string(tenant.rawValue), "condition": .string(condition.kind.rawValue),
            "state": .string(notice.stage.rawValue), "message": .string(condition.message),
            "details": .object(condition.details.mapValues(JSONValue.string)),
        ]
        data["subject"] = condition.subject.map(JSONValue.string)
        return await post(notice.id, "service.condition", notice.since, .object(data))
    }

    private func post(_ id: String, _ type: String, _ moment: Date, _ data: JSONValue) async -> Bool {
        let content: JSONValue = [
            "type": .string(type), "timestamp": .string(moment.formatted(.iso8601)), "data": data,
        ]
        let body = content.text()
        let time = String(Int64(now().timeIntervalSince1970))
        let signatures = keys.map { key in
            "v1,"
                + Data(HMAC<SHA256>.authenticationCode(for: Data("\(id).\(time).\(body)".utf8), using: key))
                .base64EncodedString()
        }
        var request = HTTPClientRequest(url: address.absoluteString)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "webhook-id", value: id)
        request.headers.add(name: "webhook-timestamp", value: time)
        request.headers.add(name: "webhook-signature", value: signatures.joined(separator: " "))
        request.body = .bytes(ByteBuffer(string: body))
        // Alerts are rare: a client for each keeps no connection open between them.
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .guarded)
        let failure: String?
        do {
            let status = try await client.execute(request, timeout: Self.timeout).status.code
            failure = (200...299).contains(status) ? nil : "the receiver answered \(status)"
        } catch {
            failure = "the receiver could not be reached"
        }
        try? await client.shutdown()
        if let failure {
            logger.warning("an alert was not delivered", metadata: ["alert": "\(id)", "reason": "\(failure)"])
        }
        return failure == nil
    }

    private static func data(of alert: OperatorAlert, of tenant: TenantID) -> JSONValue {
        var data: [String: JSONValue] = ["tenant": .string(tenant.rawValue)]
        let texts = [
            ("operation", alert.operationID), ("registration", alert.registrationID), ("user", alert.userID),
            ("app", alert.bundleID), ("target", alert.target), ("actor", alert.actor),
        ]
        for (name, text) in texts { data[name] = text.map(JSONValue.string) }
        for (name, number) in [("attempts", alert.attempts), ("people", alert.people)] {
            data[name] = number.map { .integer(Int64($0)) }
        }
        return .object(data)
    }

    private static func secrets(in file: URL) throws(ProgramError) -> [SymmetricKey] {
        let hint = "put whsec_ and 24 to 64 random bytes as Base64 into the file, with mode 0600 or 0640"
        let text = try SecretFile.text(of: file, with: "the secret of the alerts", hint: hint)
        let keys = text.split(whereSeparator: \.isWhitespace).map { secret in
            secret.hasPrefix(prefix) ? Data(base64Encoded: String(secret.dropFirst(prefix.count))) ?? Data() : Data()
        }
        guard (1...2).contains(keys.count), keys.allSatisfy({ (24...64).contains($0.count) }) else {
            throw ProgramError(
                .configurationInvalid, reason: "the file holds no secret for alerts", place: file.path, hint: hint)
        }
        return keys.map { SymmetricKey(data: $0) }
    }
}

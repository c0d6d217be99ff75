internal import AsyncHTTPClient
internal import CordonBase
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
/// A redirect is not followed, since it would hand the alert to somebody else.
public struct AlertWebhook: Sendable {
    /// How long one delivery may take.
    private static let timeout = TimeAmount.seconds(10)
    /// What a secret begins with; the rest is Base64 of 24 to 64 bytes.
    private static let prefix = "whsec_"

    private let address: URL
    private let key: SymmetricKey
    private let logger: Logger
    private let now: @Sendable () -> Date

    /// Reads the secret.
    ///
    /// - Parameters:
    ///   - address: Where to post, https; plain http on loopback alone.
    ///   - secretFile: A file with `whsec_` and 24 to 64 bytes as Base64, which nobody but owner and group may read.
    /// - Throws: ``ProgramError``: `configurationInvalid` for the address, `fileUnusable` for the file.
    public init(
        address: URL, secretFile: URL, logger: Logger, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(ProgramError) {
        guard let host = address.host(percentEncoded: false), !host.isEmpty,
            address.scheme == "https" || (address.scheme == "http" && Loopback.includes(host))
        else {
            throw ProgramError(
                .configurationInvalid, reason: "alerts are posted by https alone", place: "alertWebhook",
                hint: "give an https address; plain http is for loopback")
        }
        self.address = address
        self.key = try Self.secret(in: secretFile)
        self.logger = logger
        self.now = now
    }

    /// Posts an alert; whether the receiver took it, which it says with any status of 200 to 299 within ten seconds.
    public func deliver(_ alert: OperatorAlert, of tenant: TenantID) async -> Bool {
        let body = Self.body(of: alert, of: tenant)
        let time = String(Int64(now().timeIntervalSince1970))
        let code = HMAC<SHA256>.authenticationCode(for: Data("\(alert.id).\(time).\(body)".utf8), using: key)
        var request = HTTPClientRequest(url: address.absoluteString)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "webhook-id", value: alert.id)
        request.headers.add(name: "webhook-timestamp", value: time)
        request.headers.add(name: "webhook-signature", value: "v1," + Data(code).base64EncodedString())
        request.body = .bytes(ByteBuffer(string: body))
        // Alerts are rare: a client for each keeps no connection open between them.
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let failure: String?
        do {
            let status = try await client.execute(request, timeout: Self.timeout).status.code
            failure = (200...299).contains(status) ? nil : "the receiver answered \(status)"
        } catch {
            failure = "the receiver could not be reached"
        }
        try? await client.shutdown()
        if let failure {
            logger.warning(
                "an alert was not delivered", metadata: ["alert": "\(alert.id)", "reason": "\(failure)"])
        }
        return failure == nil
    }

    private static func body(of alert: OperatorAlert, of tenant: TenantID) -> String {
        var data: [String: JSONValue] = ["tenant": .string(tenant.rawValue)]
        let texts = [
            ("operation", alert.operationID), ("registration", alert.registrationID), ("user", alert.userID),
            ("app", alert.bundleID), ("target", alert.target), ("actor", alert.actor),
        ]
        for (name, text) in texts { data[name] = text.map(JSONValue.string) }
        for (name, number) in [("attempts", alert.attempts), ("people", alert.people)] {
            data[name] = number.map { .integer(Int64($0)) }
        }
        let body: JSONValue = [
            "type": .string(alert.kind.rawValue), "timestamp": .string(alert.time.formatted(.iso8601)),
            "data": .object(data),
        ]
        return body.text()
    }

    private static func secret(in file: URL) throws(ProgramError) -> SymmetricKey {
        let hint = "put whsec_ and 24 to 64 random bytes as Base64 into the file, with mode 0600 or 0640"
        func unusable(_ reason: String) -> ProgramError {
            ProgramError(.fileUnusable, reason: reason, place: file.path, hint: hint)
        }
        let mode = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.posixPermissions] as? NSNumber
        guard let mode, let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw unusable("the secret of the alerts cannot be read")
        }
        guard mode.intValue & 0o007 == 0 else {
            throw unusable("everybody on this machine may read or change the secret of the alerts")
        }
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard secret.hasPrefix(prefix), let bytes = Data(base64Encoded: String(secret.dropFirst(prefix.count))),
            (24...64).contains(bytes.count)
        else { throw unusable("the file holds no secret for alerts") }
        return SymmetricKey(data: bytes)
    }
}

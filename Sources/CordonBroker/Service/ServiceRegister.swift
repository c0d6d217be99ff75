internal import CordonBase
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation
internal import HTTPTypes

/// The service's register of shared devices, as a broker talks to it: joined, who is on it, released.
struct ServiceRegister: Sendable {
    /// The service's address.
    let base: URL
    let transport: any HTTPTransport
    let now: @Sendable () -> Date

    /// The longest answer; the register answers with a few lines.
    private static let largestAnswer = 64 << 10
    private static let timeout: Duration = .seconds(15)

    /// An administrator who vouches for the device: the token of this one act and the key that it is bound to.
    struct Voucher: Sendable {
        let token: AccessToken
        let signer: any MessageSigner
    }

    /// What the service says of a device that reported.
    enum RegistrationState: Sendable {
        /// It is in the register and was heard.
        case registered
        /// It was heard, and the person who is signed in has to leave: their sessions were revoked (SI-182).
        case ended
        /// It has said before that a later session, of this number, was in force: what it runs on is an older copy of itself.
        case behind(newest: UInt64)
        /// An administrator has released it.
        case released
    }

    private struct Joining: Encodable {
        var request: String
        var name: String?
    }

    private struct Report: Encodable {
        var statement: String
    }

    /// What is said of the session, beside that it was heard; an empty body says nothing.
    private struct Verdict: Decodable {
        var ends: Bool?
        var session: UInt64?
    }

    /// Registers the device; the same statement or key again finds it.
    ///
    /// - Throws: ``SignInError``: `network` when the service cannot be reached, `brokerRefused` when it refuses.
    func register(_ statement: String, name: String?, vouchedBy voucher: Voucher) async throws(SignInError) {
        let answer = try await send(
            .post, "cordon/v1/devices", Joining(request: statement, name: name), vouchedBy: voucher)
        try accept(answer)
    }

    /// Releases the device; one that the register does not know counts as released.
    ///
    /// - Throws: ``SignInError`` as ``register(_:name:vouchedBy:)``.
    func release(_ device: String, vouchedBy voucher: Voucher) async throws(SignInError) {
        let answer = try await send(.delete, "admin/v1/devices/\(device)", Report?.none, vouchedBy: voucher)
        if Self.isUnknownDevice(answer) { return }
        try accept(answer)
    }

    /// Says who is on the device; the statement's signature is the proof.
    ///
    /// - Throws: ``SignInError`` when the service did not take it: it is to be sent again.
    func report(_ statement: String, of device: String) async throws(SignInError) -> RegistrationState {
        let answer = try await send(
            .post, "cordon/v1/devices/\(device)/session", Report(statement: statement), vouchedBy: nil)
        if Self.isUnknownDevice(answer) { return .released }
        try accept(answer)
        let verdict = try? JSONDecoder().decode(Verdict.self, from: answer.body)
        guard verdict?.ends == true else { return .registered }
        return verdict?.session.map { .behind(newest: $0) } ?? .ended
    }

    /// Only the register's own words release a device: a page that something in between did not find does not.
    private static func isUnknownDevice(_ answer: HTTPAnswer) -> Bool {
        answer.head.status == .notFound
            && (try? MessageCoding.decode(ProblemDetails.self, from: answer.body))?.type == unknownDevice
    }

    private static let unknownDevice = "urn:cordon:problem:not-found"

    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ message: (some Encodable)?, vouchedBy voucher: Voucher?
    ) async throws(SignInError) -> HTTPAnswer {
        let answer = try await send(method, path, message, vouchedBy: voucher, repeating: nil)
        // In the minute after its start, the service asks for a proof that repeats a nonce of its; it has done nothing before that.
        guard voucher != nil, answer.head.status == .unauthorized, let name = Self.nonceField,
            let nonce = answer.head.headerFields[name]
        else { return answer }
        return try await send(method, path, message, vouchedBy: voucher, repeating: nonce)
    }

    private static let nonceField = HTTPField.Name("DPoP-Nonce")

    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ message: (some Encodable)?, vouchedBy voucher: Voucher?,
        repeating nonce: String?
    ) async throws(SignInError) -> HTTPAnswer {
        let url = base.appending(path: path)
        var request = try HTTPRequest(method, to: url) {
            SignInError(.configuration, .invalidParameter, "the service's address \($0.predicate)")
        }
        request.headerFields[.accept] = "application/json"
        var body: Data?
        do {
            if let message {
                body = try MessageCoding.encode(message)
                request.headerFields[.contentType] = "application/json"
            }
            if let voucher {
                request.headerFields[.authorization] = voucher.token.authorization
                if voucher.token.isBound, let name = HTTPField.Name("DPoP") {
                    request.headerFields[name] = try DPoPProof.make(
                        method: method.rawValue, url: url, accessToken: voucher.token.text, nonce: nonce,
                        issued: now(), signer: voucher.signer)
                }
            }
        } catch {
            throw SignInError(.storage, .storeUnavailable, "the request to the service could not be signed")
        }
        do {
            return try await transport.send(request, body: body, limit: Self.largestAnswer, timeout: Self.timeout)
        } catch {
            throw SignInError(.network, .unreachable, "the service cannot be reached", hint: "Try again later.")
        }
    }

    private func accept(_ answer: HTTPAnswer) throws(SignInError) {
        let status = answer.head.status
        switch status.code {
        case 200..<300: return
        case 409:
            throw SignInError(
                .brokerRefused, .brokerDenied, "the service knows this device by another key",
                hint: "Release it there, then join again.")
        case 400..<500 where status.code != 429:
            throw SignInError(
                .brokerRefused, .brokerDenied, "the service refused the device with status \(status.code)",
                hint: "Check the administrator's role and the service's address.")
        default:
            throw SignInError(.serverBusy, .overloaded, "the service answered with status \(status.code)")
        }
    }
}

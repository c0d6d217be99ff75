import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import Cordon

/// Every member of everything that a service answers, in twenty wrong forms and more where tests run at full length and in two of them
/// else: also of what it has signed. Each is an error or is taken for what it says; none ends the process, and none of what is not signed
/// changes the rules.
@Suite(.timeLimit(.minutes(10))) struct HostileAnswerTests {
    static let forms: [JSONValue] =
        [
            .null, .bool(true), .bool(false), .integer(0), .integer(-1), .integer(1), .integer(.max), .integer(.min),
            .integer(1 << 53), .string(""), .string(" "), .string("\u{0}"), .string("a\nb\u{1B}[2J\u{202E}"),
            .string("9223372036854775807"), .string("P99999999999999999Y"), .string("9999-12-31T23:59:59Z"),
            .string("../../x?y#z"), .string(String(repeating: "a", count: 10_000)), .array([]), .object([:]),
            .array([.null, .integer(.max), .string(""), .object([:])]), .object(["": .object(["a": .null])]),
        ] + ["1e308", "-1e308", "1e-320", "0.5", "18446744073709551615"].map(number)

    private static func number(_ text: String) -> JSONValue { (try? JSONValue(parsing: Data(text.utf8))) ?? .null }

    /// The forms for the place of a number; those of places in a row are others.
    private static func forms(at index: Int) -> [JSONValue] {
        DeepRun.isDeep ? forms : [0, 13].map { forms[(index + $0) % forms.count] }
    }

    /// A place inside a JSON value.
    struct Place: Sendable, CustomStringConvertible {
        enum Step: Sendable { case member(String), element(Int) }
        let steps: [Step]
        var description: String {
            steps.map { if case .member(let name) = $0 { "." + name } else { "[]" } }.joined()
        }

        /// Every place in a value, the value itself left out; of an array the first element stands for all.
        static func all(in value: JSONValue, below steps: [Step] = []) -> [Place] {
            switch value {
            case .object(let members):
                members.sorted { $0.key < $1.key }.flatMap { name, value in
                    [Place(steps: steps + [.member(name)])] + all(in: value, below: steps + [.member(name)])
                }
            case .array(let values):
                values.first.map { [Place(steps: steps + [.element(0)])] + all(in: $0, below: steps + [.element(0)]) }
                    ?? []
            default: []
            }
        }

        func replaced(in value: JSONValue, by form: JSONValue, from depth: Int = 0) -> JSONValue {
            guard depth < steps.count else { return form }
            switch (steps[depth], value) {
            case (.member(let name), .object(var members)):
                members[name] = replaced(in: members[name] ?? .null, by: form, from: depth + 1)
                return .object(members)
            case (.element(let index), .array(var values)) where values.indices.contains(index):
                values[index] = replaced(in: values[index], by: form, from: depth + 1)
                return .array(values)
            default: return value
            }
        }
    }

    /// A service whose answers have something in every member.
    private func device() async throws -> Device {
        let device = try Device()
        let account = device.account
        await device.service.set { service in
            service.change = { envelope in
                envelope.configurations = [.object(["limit": .integer(3)])]
                envelope.allowedAccounts = [.init(id: account.id, userPrincipalName: account.userPrincipalName)]
                envelope.workingTime = WorkingTime(status: .clockedIn, asOf: 1_700_000_000, validUntil: 9_000_000_000)
                envelope.certificatePins = ["*.contoso.example": ["qvTGHdzF6KLavt4PO0gs2a6pQ00BI7yWe7B0k3HVWoQ="]]
                envelope.telemetryDisabled = false
                envelope.commands = [
                    Command(
                        id: "c\(envelope.sequence)", kind: .wipe, account: "another", reason: .device, issuedAt: 0,
                        notAfter: 9_000_000_000)
                ]
                envelope.compliance = ComplianceReport(.compliant)
                envelope.service = ServiceSettings(minimumSDKVersion: "0.0.1")
                envelope.logRequests = [LogRequest(id: "logs", notAfter: 9_000_000_000)]
            }
        }
        try await device.publish([
            "printBlocked": .bool(true), "periodOfflineBeforeAccessCheck": .string("PT12H"),
            "minimumRequiredOsVersion": .string("0.5"), "maximumPinRetries": .integer(5),
        ])
        return device
    }

    /// Everything that the app computes from what it was told.
    private func use(_ protection: AppProtection, of account: AccountID) async {
        _ = await protection.launch(account)
        for action in [Question(.print, owner: .managed(account)), Question(.launch, owner: .managed(account))] {
            _ = protection.decision(for: action)
        }
        _ = protection.diagnostics.report().lines
        _ = protection.rules.appConfiguration(of: account)
        _ = protection.context.workingTime(of: account)
        await protection.performDueWork()
    }

    @Test(arguments: ["registrations", "checkins"])
    func `an answer that is not signed ends nothing and loosens no rule`(route: String) async throws {
        let device = try await device()
        let change = Locked<(@Sendable (JSONValue) -> JSONValue)?>(nil)
        let answer = Locked<JSONValue>(.null)
        let service = device.service
        let protection = try await device.start { configuration in
            configuration.transport = Rewriting(inner: service) { path, value in
                guard path.hasSuffix(route) else { return value }
                answer.withLock { $0 = value }
                return change.withLock { $0 }?(value) ?? value
            }
        }
        await protection.enroll(device.account)
        await protection.checkIn(device.account.id)
        let places = Place.all(in: answer.withLock { $0 })
        #expect(places.count >= 5)
        for (index, place) in places.enumerated() {
            for form in Self.forms(at: index) {
                change.withLock { $0 = { place.replaced(in: $0, by: form) } }
                if route == "registrations" {
                    _ = await protection.unenroll(device.account.id, wiping: false)
                    await protection.enroll(device.account)
                } else {
                    await protection.checkIn(device.account.id)
                }
                #expect(
                    !device.mayPrint(protection) || protection.enrolledAccounts.isEmpty,
                    "\(place) \(form.text().prefix(40))")
            }
            await use(protection, of: device.account.id)
        }
        change.withLock { $0 = nil }
        await protection.enroll(device.account)
        #expect(await protection.checkIn(device.account.id).didSucceed, "and an honest answer is taken afterwards")
        #expect(!device.mayPrint(protection))
    }

    @Test(arguments: 0..<4)
    func `a signed envelope that holds anything at all ends no process, now or at the next start`(part: Int)
        async throws
    {
        let first = try await device()
        let seen = Locked("")
        await first.service.set { service in
            service.spoiled = { text in
                seen.withLock { $0 = text }
                return text
            }
        }
        await (try await first.start()).enroll(first.account)
        let places = Place.all(in: try Self.payload(of: seen.withLock { $0 }))
        #expect(places.count > 40)
        for (index, place) in places.enumerated() where index % 4 == part {
            let device = try await device()
            let signing = device.service.signing
            let protection = try await device.start()
            await protection.enroll(device.account)
            for form in Self.forms(at: index) {
                await device.service.set { service in
                    service.spoiled = { text in
                        guard let value = try? Self.payload(of: text) else { return text }
                        return Self.signed(place.replaced(in: value, by: form), like: text, by: signing)
                    }
                }
                await protection.checkIn(device.account.id)
                await use(protection, of: device.account.id)
                if protection.enrolledAccounts.isEmpty {
                    await device.service.set { $0.spoiled = nil }
                    await protection.enroll(device.account)
                }
            }
            await use(try await device.start(), of: device.account.id)
        }
    }

    private static func payload(of text: String) throws -> JSONValue {
        let parts = text.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let bytes = try #require(Base64URL.decode(parts[1]))
        return try JSONValue(parsing: bytes)
    }

    private static func signed(_ value: JSONValue, like text: String, by key: SoftwareSigningKey) -> String {
        let head = text.split(separator: ".")[0]
        let signed = "\(head).\(Base64URL.encode(Data(value.text().utf8)))"
        return signed + "." + Base64URL.encode((try? key.signature(for: Data(signed.utf8))) ?? Data())
    }
}

/// Changes JSON answers on their way.
private struct Rewriting: HTTPTransport {
    let inner: any HTTPTransport
    let change: @Sendable (_ path: String, _ value: JSONValue) -> JSONValue

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let answer = try await inner.send(request, body: body, limit: limit, timeout: timeout)
        guard answer.head.status == .ok, let value = try? JSONValue(parsing: answer.body) else { return answer }
        return HTTPAnswer(head: answer.head, body: Data(change(request.path ?? "", value).text().utf8))
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await inner.stream(request, timeout: timeout)
    }
}

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

/// Every member of everything that a service answers, in some fifty wrong forms where tests run at full length and in two of them else:
/// also of what it has signed. Each is an error or is taken for what it says; none ends the process, and none of what is not signed changes
/// the rules.
@Suite(.timeLimit(.minutes(10))) struct HostileAnswerTests {
    /// A service whose answers have something in every member.
    private func device() async throws -> Device {
        let device = try Device()
        let account = device.account
        await device.service.set { service in
            service.change = { envelope in
                envelope.configurations = [
                    [
                        "__IsDefault": true, "__source": "A_1", "limit": 3,
                        AppConfiguration.managedBrowserKey: "contoso",
                        CertificatePins.configurationKey: [
                            "files.contoso.example": ["qvTGHdzF6KLavt4PO0gs2a6pQ00BI7yWe7B0k3HVWoQ="]
                        ],
                    ]
                ]
                envelope.allowedAccounts = [.init(id: account.id, userPrincipalName: account.userPrincipalName)]
                envelope.workingTime = WorkingTime(status: .clockedIn, asOf: 1_700_000_000, validUntil: 9_000_000_000)
                envelope.certificatePins = ["mail.contoso.example": ["qvTGHdzF6KLavt4PO0gs2a6pQ00BI7yWe7B0k3HVWoQ="]]
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
        let configuration = protection.rules.appConfiguration(of: account)
        for key in configuration.keys {
            _ = (configuration.string(for: key, .min), configuration.hasConflict(key, readAs: .number))
        }
        try? protection.pinning.checkPins(of: [Data([1])], for: "files.contoso.example", account: account)
        _ = protection.context.workingTime(of: account)
        await protection.performDueWork()
    }

    @Test(arguments: ["registrations", "checkins"])
    func `an answer that is not signed ends nothing and loosens no rule`(route: String) async throws {
        let device = try await device()
        let change = Locked<(@Sendable (JSONValue) -> String)?>(nil)
        let answer = Locked<JSONValue>(.null)
        let service = device.service
        let protection = try await device.start { configuration in
            configuration.transport = Rewriting(inner: service) { path, value in
                guard path.hasSuffix(route) else { return nil }
                answer.withLock { $0 = value }
                return change.withLock { $0 }?(value)
            }
        }
        await protection.enroll(device.account)
        await protection.checkIn(device.account.id)
        let places = Place.all(in: answer.withLock { $0 })
        #expect(places.count >= 5)
        for (index, place) in places.enumerated() {
            for form in WrongForm.some(at: index) {
                change.withLock { $0 = { place.text(of: $0, as: form) } }
                if route == "registrations" {
                    _ = await protection.unenroll(device.account.id, wiping: false)
                    await protection.enroll(device.account)
                } else {
                    await protection.checkIn(device.account.id)
                }
                #expect(
                    !device.mayPrint(protection) || protection.enrolledAccounts.isEmpty,
                    "\(place) \(form)")
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
        let places = Place.all(in: try Part.payload.value(of: seen.withLock { $0 }))
        #expect(places.count > 40)
        for (index, place) in places.enumerated() where index % 4 == part {
            let device = try await device()
            let signing = device.service.signing
            let protection = try await device.start()
            await protection.enroll(device.account)
            for form in WrongForm.some(at: index) {
                await device.service.set { service in
                    service.spoiled = { (try? Self.signed($0, with: form, at: place, in: .payload, by: signing)) ?? $0 }
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

    /// What is answered and signed besides envelopes.
    enum Word: String, CaseIterable {
        case keySet = "keys"
        case contact = "checkins"

        /// The member that holds it.
        var member: String { self == .keySet ? "signed" : "contact" }

        func key(of service: ScriptedService) -> SoftwareSigningKey { self == .keySet ? service.root : service.signing }
    }

    @Test(arguments: Word.allCases, [Part.head, .payload])
    func `a signed word that holds anything at all ends no process and opens nothing`(
        word: Word, part: Part
    ) async throws {
        let device = try await device()
        let (service, signing) = (device.service, word.key(of: device.service))
        let change = Locked<(@Sendable (String) -> String)?>(nil)
        let seen = Locked("")
        let protection = try await device.start { configuration in
            configuration.transport = Rewriting(inner: service) { path, value in
                guard path.hasSuffix(word.rawValue), var members = value.object,
                    let text = members[word.member]?.string
                else { return nil }
                seen.withLock { $0 = text }
                members[word.member] = .string(change.withLock { $0 }?(text) ?? text)
                return JSONValue.object(members).text()
            }
        }
        await protection.enroll(device.account)
        await protection.checkIn(device.account.id)
        let places = Place.all(in: try part.value(of: seen.withLock { $0 }))
        #expect(places.count >= 3)
        for (index, place) in places.enumerated() {
            for form in WrongForm.some(at: index) {
                change.withLock {
                    $0 = { (try? Self.signed($0, with: form, at: place, in: part, by: signing)) ?? $0 }
                }
                switch word {
                case .keySet: _ = try? await protection.service.verify()
                case .contact: await protection.checkIn(device.account.id)
                }
                #expect(!device.mayPrint(protection), "\(place) \(form)")
            }
            await use(protection, of: device.account.id)
        }
    }

    @Test func `a refusal that says anything at all is a refusal, and is told on one line that a terminal may print`()
        async throws
    {
        let device = try await device()
        let (service, form) = (device.service, Locked<(Place, WrongForm)?>(nil))
        let refusal = ProblemDetails(
            type: "about:blank", title: "later", status: 503, detail: "because", code: .tenantMigration, retryAfter: 60,
            traceID: "t", contact: "c")
        let protection = try await device.start { configuration in
            configuration.transport = Rewriting(inner: service) { _, value in
                form.withLock { $0 }.map { place, form in place.text(of: value, as: form) }
            }
        }
        await protection.enroll(device.account)
        let url = try #require(URL(string: "https://service.test"))
        let body = try MessageCoding.encode(refusal)
        await service.set { $0.garbage = (.init(code: 503), String(decoding: body, as: UTF8.self)) }
        for (index, place) in Place.all(in: try JSONValue(parsing: body)).enumerated() {
            for wrong in WrongForm.all {
                let told = await #expect(throws: ProtectionError.self, "\(place) \(wrong)") {
                    _ = try await AppProtection.discover(
                        url, over: Rewriting(inner: service) { _, value in place.text(of: value, as: wrong) })
                }
                let reason = told?.reason ?? ""
                #expect(TerminalText.isSafe(reason) && reason.unicodeScalars.count < 1_000, "\(place) \(wrong)")
            }
            for wrong in WrongForm.some(at: index) {
                form.withLock { $0 = (place, wrong) }
                #expect(await !protection.checkIn(device.account.id).didSucceed, "\(place) \(wrong)")
                #expect(!device.mayPrint(protection))
            }
            await use(protection, of: device.account.id)
        }
    }

    /// A part of a compact signature whose members are replaced.
    enum Part: Int, Sendable {
        case head, payload

        func value(of text: String) throws -> JSONValue {
            let parts = text.split(separator: ".")
            try #require(parts.count == 3)
            return try JSONValue(parsing: try #require(Base64URL.decode(parts[rawValue])))
        }
    }

    /// The signed text with a wrong form in a place, signed again.
    private static func signed(
        _ text: String, with form: WrongForm, at place: Place, in part: Part, by key: SoftwareSigningKey
    ) throws -> String {
        var parts = text.split(separator: ".").map(String.init)
        parts[part.rawValue] = Base64URL.encode(Data(place.text(of: try part.value(of: text), as: form).utf8))
        let signed = parts[0] + "." + parts[1]
        return signed + "." + Base64URL.encode(try key.signature(for: Data(signed.utf8)))
    }
}

/// Changes JSON answers on their way.
private struct Rewriting: HTTPTransport {
    let inner: any HTTPTransport
    /// What is answered instead; nil for no change.
    let change: @Sendable (_ path: String, _ value: JSONValue) -> String?

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let answer = try await inner.send(request, body: body, limit: limit, timeout: timeout)
        guard let value = try? JSONValue(parsing: answer.body), let text = change(request.path ?? "", value) else {
            return answer
        }
        return HTTPAnswer(head: answer.head, body: Data(text.utf8))
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await inner.stream(request, timeout: timeout)
    }
}

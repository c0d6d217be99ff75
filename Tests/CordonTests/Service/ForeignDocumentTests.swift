import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation
import HTTPTypes
import Testing

/// Discovery documents, key sets and addresses that any server may have written: each wrong one is an error, none ends the
/// process, and the person is not sent to a browser for them.
@Suite(.timeLimit(.minutes(10))) struct ForeignDocumentTests {
    /// What is in the place of a text that is an address.
    static let wrongAddresses: [JSONValue] =
        wrongTypes
        + [
            "", " ", "nonsense", "/mam/v1/keys", "//service.test/keys", "service.test/keys", "127.0.0.1:8080", "https:",
            "https://", "https:///keys", "http://service.test/keys", "ftp://service.test/", "file:///etc/passwd",
            "javascript:alert(1)", "data:,x", "https://user:password@service.test/", "https://service.test:0/",
            "https://service.test:99999/", "https://service.test:99999999999999999999/", "https://[::1/",
            "https://%00/",
            "https://a b/", "\u{0}", "https://service.test/" + String(repeating: "a", count: 10_000),
        ].map { .string($0) }
    /// What is in the place of any text.
    static let wrongTexts: [JSONValue] =
        wrongTypes + ["", "\u{0}", "a\nb", String(repeating: "a", count: 10_000)].map { .string($0) }
    static let wrongTypes: [JSONValue] = [
        .null, .bool(true), .integer(-1), .integer(.max), number("1e308"), .array([]), .object([:]),
    ]

    private static func number(_ text: String) -> JSONValue { (try? JSONValue(parsing: Data(text.utf8))) ?? .null }

    static let wrongVersions: [JSONValue] =
        wrongTypes + [.string("1"), .array([.integer(2)]), .array([.string("1")]), .array([number("1e300")])]
    /// What is in the place of a member that may be left out.
    static let wrongChoices: [JSONValue] = wrongTexts.filter { $0 != .null }
    static let wrongRequests: [JSONValue] =
        wrongChoices
        + wrongTypes.map { .object(["scopes": $0]) }.filter { $0 != .object(["scopes": .array([])]) }
        + wrongTexts.map { .object(["scopes": .array([$0])]) }
        + wrongChoices.map { .object(["scopes": .array([.string("s")]), "resource": $0]) }
    static let wrongSignatures: [JSONValue] =
        wrongTypes
        + ["", ".", "..", "...", "a.b.c", "é.é.é", "e30.e30.e30", "e30.e30.", String(repeating: "a.", count: 5_000)]
        .map { .string($0) }
    static let wrongKeys: [JSONValue] =
        [.null, .bool(true), .integer(1), .object([:]), .string("nonsense")]
        + [JSONValue.null, .integer(1), .object([:]), .object(["kty": .string("EC")])].map { .array([$0]) }

    static let rows: [(path: String, member: String, forms: [JSONValue])] = [
        (ServiceDiscovery.path, "tenant", wrongTexts), (ServiceDiscovery.path, "issuer", wrongAddresses),
        (ServiceDiscovery.path, "checkIn", wrongAddresses), (ServiceDiscovery.path, "keys", wrongAddresses),
        (ServiceDiscovery.path, "resource", wrongTexts), (ServiceDiscovery.path, "scope", wrongTexts),
        (ServiceDiscovery.path, "versions", wrongVersions), (ServiceDiscovery.path, "proof", wrongChoices),
        (ServiceDiscovery.path, "tokenRequest", wrongRequests), ("/mam/v1/keys", "keys", wrongKeys),
        ("/mam/v1/keys", "signed", wrongSignatures),
    ]

    private let device: Device

    init() throws { device = try Device() }

    private func start(
        _ change: @escaping @Sendable (String, inout [String: JSONValue]) -> Void, asked: Locked<Int> = Locked(0)
    ) async throws -> AppProtection {
        try await device.publish(["printBlocked": .bool(true)])
        let (service, account) = (device.service, device.account)
        return try await device.start { configuration in
            configuration.transport = Rewriting(inner: service, change: change)
            configuration.signIn = { _ throws(SignInError) in
                asked.withLock { $0 += 1 }
                return account
            }
        }
    }

    @Test(arguments: rows.map { ($0.path, $0.member) })
    func `a member in a wrong form is an error, and the person is not asked to sign in`(
        path: String, member: String
    ) async throws {
        let forms = try #require(Self.rows.first { $0.path == path && $0.member == member }).forms
        let (form, asked) = (Locked<JSONValue?>(nil), Locked(0))
        let protection = try await start(
            { place, members in if place == path { members[member] = form.withLock { $0 } } }, asked: asked)
        let isNeeded = !["proof", "tokenRequest"].contains(member)
        for wrong in forms.map(Optional.some) + (isNeeded ? [nil] : []) {
            form.withLock { $0 = wrong }
            let place = Comment(rawValue: "\(member): \(wrong.map { String($0.text().prefix(60)) } ?? "missing")")
            #expect(await !protection.enroll(device.account).didSucceed, place)
            #expect(await !protection.signInAndEnroll().didSucceed, place)
            await #expect(throws: ProtectionError.self, place) { try await protection.service.verify() }
        }
        #expect(asked.withLock { $0 } == 0)
        #expect(protection.enrolledAccounts.isEmpty)
    }

    @Test func `a service that is whole has the person asked once, after its keys were verified`() async throws {
        let asked = Locked(0)
        let protection = try await start({ _, _ in }, asked: asked)
        #expect(try await protection.service.verify().tenant == device.account.tenant)
        #expect(await protection.signInAndEnroll() == .newPolicies)
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func `with another root key the person is not asked, the service gets no token, and its error says so`()
        async throws
    {
        try await device.publish(["printBlocked": .bool(true)])
        let (asked, account) = (Locked(0), device.account)
        let protection = try await device.start(pin: SoftwareSigningKey().publicKey.thumbprint) { configuration in
            configuration.signIn = { _ throws(SignInError) in
                asked.withLock { $0 += 1 }
                return account
            }
        }
        #expect(await protection.signInAndEnroll() == .parsingFailure)
        #expect(await protection.enroll(account) == .parsingFailure)
        #expect(asked.withLock { $0 } == 0)
        #expect(await device.service.asked.allSatisfy { $0.hasPrefix("GET ") })
        await #expect(throws: ProtectionError(.invalidConfiguration, "")) { try await protection.service.verify() }
    }

    @Test func `the person is not asked while the service cannot be reached`() async throws {
        let asked = Locked(0)
        let protection = try await start({ _, _ in }, asked: asked)
        await device.service.set { $0.isUnreachable = true }
        #expect(await protection.signInAndEnroll() == .discoveryFailed)
        #expect(asked.withLock { $0 } == 0)
        await #expect(throws: ProtectionError(.serviceUnusable, "")) { try await protection.service.verify() }
    }

    @Test(arguments: wrongAddresses.compactMap(\.string).compactMap { URL(string: $0) })
    func `a service's address that no request may be sent to is told at the start`(address: URL) async throws {
        await #expect(throws: ProtectionError(.invalidConfiguration, "")) {
            _ = try await device.start { $0.service = address }
        }
        await #expect(throws: ProtectionError(.invalidConfiguration, "")) {
            _ = try await AppProtection.discover(address, over: device.service)
        }
    }

    @Test func `why no usable answer came is told with what to do about it`() async throws {
        let url = try #require(URL(string: "https://service.test"))
        func told() async -> ProtectionError? {
            do throws(ProtectionError) {
                _ = try await AppProtection.discover(url, over: device.service)
                return nil
            } catch { return error }
        }
        await device.service.set { $0.garbage = (.init(code: 503), "") }
        let refused = try #require(await told())
        #expect(refused.reason == "the service answered with status 503")
        await device.service.set {
            $0.garbage = nil
            $0.failure = TransportError(.untrustedServer, reason: "the server's certificate is not trusted")
        }
        let untrusted = try #require(await told())
        #expect(untrusted.reason == "the server's certificate is not trusted" && untrusted.hint.contains("certificate"))
        await device.service.set { $0.failure = TransportError(.unreachable, reason: "the connection was refused") }
        let silent = try #require(await told())
        #expect(silent.reason == "the connection was refused" && silent.hint.contains("whether it runs"))
        #expect(refused.hint != silent.hint)
    }

    @Test(arguments: ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:8080", "https://service.test:8443/at"])
    func `an address of this machine, or any with https, is taken`(address: String) async throws {
        let url = try #require(URL(string: address))
        _ = try await device.start { $0.service = url }
    }

    @Test(arguments: ["", "AAAA", "nonsense", String(repeating: "A", count: 42), String(repeating: "=", count: 43)])
    func `a root key in a form that none has is told at the start, with what to do`(pin: String) async throws {
        do {
            _ = try await device.start(pin: pin)
            Issue.record("the app started")
        } catch let error as ProtectionError {
            #expect(error.code == .invalidConfiguration && error.hint.contains("rootKey"))
        }
    }

    @Test func `a service that does not answer is not all that is told where what was remembered of it does not count`()
        async throws
    {
        let folder = device.folder.appending(path: "data")
        let service = try #require(URL(string: "https://service.test"))
        let own = try ServiceMemory(dataDirectory: folder, bundleID: "example.notes", keyStore: device.keyStore)
        func told(_ memory: ServiceMemory) async -> ProtectionError? {
            do throws(ProtectionError) {
                _ = try await AppProtection.discover(service, over: device.service, rememberedIn: memory)
                return nil
            } catch { return error }
        }
        await device.service.set { $0.isUnreachable = true }
        let first = try #require(await told(own))
        #expect(!first.reason.contains("remembered") && first.hint.contains("whether it runs"), "the control")
        await device.service.set { $0.isUnreachable = false }
        #expect(await told(own) == nil)
        await device.service.set { $0.isUnreachable = true }
        #expect(await told(own) == nil)

        let foreign = try ServiceMemory(
            dataDirectory: folder, bundleID: "example.notes", keyStore: try Device().keyStore)
        let life = folder.appending(path: "life")
        let file = try #require(
            try FileManager.default.contentsOfDirectory(at: life, includingPropertiesForKeys: nil).first {
                $0.lastPathComponent.hasPrefix("service-")
            })
        let ofOthers = try #require(await told(foreign))
        try FileManager.default.removeItem(at: file)
        for error in [ofOthers, try #require(await told(own))] {
            #expect(error.code == .serviceUnusable && error.reason.contains("remembered"), "\(error)")
            #expect(error.hint.contains("this device's own"))
        }
    }

    @Test func `what was remembered of a service is looked at like what it says`() async throws {
        let folder = device.folder.appending(path: "data")
        let memory = try ServiceMemory(dataDirectory: folder, bundleID: "example.notes", keyStore: device.keyStore)
        let service = try #require(URL(string: "https://service.test"))
        _ = try await AppProtection.discover(service, over: device.service, rememberedIn: memory)
        await device.service.set { $0.isUnreachable = true }
        _ = try await AppProtection.discover(service, over: device.service, rememberedIn: memory)
        let life = folder.appending(path: "life")
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: life.path).first { $0.hasPrefix("service-") })
        var members = try #require(
            try JSONValue(parsing: device.contents(ofState: life.appending(path: name))).object)
        members["keys"] = .string("nonsense")
        try device.seal(JSONValue.object(members).text(), inState: life.appending(path: name))
        await #expect(throws: ProtectionError(.serviceUnusable, "")) {
            _ = try await AppProtection.discover(service, over: device.service, rememberedIn: memory)
        }
    }
}

/// Changes the members of JSON answers on their way.
private struct Rewriting: HTTPTransport {
    let inner: any HTTPTransport
    let change: @Sendable (_ path: String, _ members: inout [String: JSONValue]) -> Void

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        let answer = try await inner.send(request, body: body, limit: limit, timeout: timeout)
        guard var members = (try? JSONValue(parsing: answer.body))?.object else { return answer }
        change(request.path ?? "", &members)
        return HTTPAnswer(head: answer.head, body: Data(JSONValue.object(members).text().utf8))
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await inner.stream(request, timeout: timeout)
    }
}

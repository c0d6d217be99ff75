import CordonBase
import CordonPolicy
import CordonService
import CordonTestSupport
import CordonTesting
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@testable import CordonServiceHTTP

/// What a provider answers, one after another, and what it was asked; the poll ends where it has no more answers.
private actor Transmitter {
    private var answers: [Result<JSONValue, TokenRefusal>]
    private(set) var questions: [JSONValue] = []
    private(set) var pauses: [Duration] = []

    init(_ answers: [Result<JSONValue, TokenRefusal>]) { self.answers = answers }

    /// An answer that is null stands for one that is too large.
    func answer(_ question: Data) -> Result<Data?, TokenRefusal> {
        questions.append((try? JSONValue(parsing: question)) ?? .null)
        guard !answers.isEmpty else { return .success(Data(#"{"sets": {}}"#.utf8)) }
        return answers.removeFirst().map { $0 == .null ? nil : Data($0.text().utf8) }
    }

    func sleep(_ pause: Duration) throws {
        pauses.append(pause)
        if answers.isEmpty { throw CancellationError() }
    }
}

extension SecurityEventTests {
    private static let other = "https://partner.example.test"

    /// Polls until the answers are over.
    private func poll(
        _ service: TestService, _ answers: [Result<JSONValue, TokenRefusal>], log: LogRecorder = LogRecorder(),
        beforeSleep: @escaping @Sendable () -> Void = {}, beforeAnswer: @escaping @Sendable () -> Void = {}
    ) async -> (questions: [JSONValue], pauses: [Duration]) {
        let clock = service.clock
        let rules = TokenRules(
            issuers: [TestIssuer.name, Self.other].map { .init(issuer: $0, tenant: TestService.tenant) },
            checkInAudience: ServiceServerConfiguration.usualCheckInAudience, administrationAudiences: ["api://other"])
        let refusals = TokenRefusalLog(logger: log.logger, now: { clock.now })
        let transmitter = Transmitter(answers)
        let provisioning = service.service.provisioning
        await SecurityEventPoll(
            issuer: TestIssuer.name,
            receiver: SecurityEventReceiver(
                events: SecurityEventVerifier(
                    rules: rules, base: TestService.base, documents: service.issuer, refusals: refusals,
                    now: { clock.now }),
                provisioning: provisioning,
                revoked: RevokedSessions(provisioning: provisioning, tenant: TestService.tenant)),
            ask: {
                beforeAnswer()
                return await transmitter.answer($0)
            },
            sleep: {
                beforeSleep()
                try await transmitter.sleep($0)
            }
        ).run()
        return (await transmitter.questions, await transmitter.pauses)
    }

    private func sets(_ tokens: [String: String], hasMore: Bool? = nil) -> Result<JSONValue, TokenRefusal> {
        var answer: [String: JSONValue] = ["sets": .object(tokens.mapValues(JSONValue.string))]
        answer["moreAvailable"] = hasMore.map(JSONValue.bool)
        return .success(.object(answer))
    }

    private func isEnabled(_ service: TestService) async throws -> Bool {
        try await service.service.administration.user(TestPerson.workerA.id, as: TestService.owner).accountEnabled
    }

    @Test func `events that a provider keeps are fetched, and acknowledged once they count`() async throws {
        let service = try await TestService()
        let disabled = try token(service, Self.disabled)
        service.clock.advance(by: 10)
        let enabled = try token(service, Self.enabled)
        let log = LogRecorder()
        let down = TokenRefusal(.issuerUnavailable, "the provider answered 500")
        let (questions, pauses) = await poll(
            service,
            [
                sets(["2": disabled, "1": enabled, "3": "x.y.z"]), .failure(down), .failure(down),
                sets(["4": disabled]),
                .success(["sets": []]), sets([:]),
            ], log: log)
        #expect(try await isEnabled(service) == true, "an older event that comes late changes nothing")
        #expect(questions.first == ["maxEvents": 100, "returnImmediately": true])
        for question in questions[1...3] {
            #expect(question["ack"] == ["1", "2"])
            #expect(question["setErrs"]?["3"]?["err"] == "invalid_request")
        }
        #expect(questions[4]["ack"] == ["4"] && questions[4]["setErrs"] == nil && questions[5]["ack"] == ["4"])
        #expect(pauses == [5, 5, 10, 5, 5, 5].map { Duration.seconds($0) })
        #expect(log.lines.contains { $0.contains("security events could not be fetched") })
        #expect(log.lines.contains { $0.contains("a security event token was refused") })
    }

    @Test
    func `an event that cannot be judged yet is not acknowledged, and is asked for again`() async throws {
        let service = try await TestService()
        let (clock, issuer) = (service.clock, service.issuer)
        let keys = issuer.published.withLock { $0 }
        issuer.published.withLock { $0 = nil }
        let disabled = try token(service, Self.disabled)
        let answer = sets(["1": disabled])
        let (questions, pauses) = await poll(service, [answer, answer, answer]) {
            clock.advance(by: 60)
            issuer.published.withLock { $0 = keys }
        }
        #expect(questions.map { $0["ack"] } == [nil, nil, ["1"]])
        #expect(pauses == [5, 5, 5].map { Duration.seconds($0) })
        #expect(try await !isEnabled(service))
    }

    @Test func `a provider that has more is asked soon, and one that sends the same again is not`() async throws {
        let service = try await TestService()
        let (first, second) = (try token(service, Self.disabled), try token(service, Self.enabled))
        let (_, pauses) = await poll(
            service,
            [
                sets(["1": first], hasMore: true), sets(["2": second], hasMore: true),
                sets(["2": second], hasMore: true),
                sets(["3": "x.y.z"], hasMore: true), sets(["4": first], hasMore: false),
            ])
        let (soon, later) = (SecurityEventPoll.pauseForMore, SecurityEventPoll.pause)
        #expect(pauses == [soon, soon, later, soon, later])
    }

    @Test func `an answer with more tokens than were asked for counts whole, and is acknowledged`() async throws {
        let service = try await TestService()
        let disabled = try token(service, Self.disabled)
        let ids = (1...101).map { "id-\($0)" }
        let (questions, pauses) = await poll(
            service, [sets(Dictionary(uniqueKeysWithValues: ids.map { ($0, disabled) })), sets([:])])
        #expect(questions.count == 2 && questions.last?["ack"] == .array(ids.sorted().map(JSONValue.string)))
        #expect(pauses.first == SecurityEventPoll.pauseForMore)
        #expect(try await !isEnabled(service))
    }

    @Test func `where an answer is too large, fewer tokens are asked for until one can be read, and then more again`()
        async throws
    {
        let service = try await TestService()
        let disabled = try token(service, Self.disabled)
        let large = Result<JSONValue, TokenRefusal>.success(.null)
        let log = LogRecorder()
        let (questions, pauses) = await poll(
            service,
            [
                large, large, large, large, sets(["1": disabled], hasMore: true), sets(["2": disabled]), large,
                sets(["3": disabled]),
            ], log: log)
        #expect(questions.map { $0["maxEvents"]?.integer } == [100, 25, 6, 1, 1, 2, 4, 1])
        #expect(questions.last?["ack"] == ["2"], "what became of the tokens before is said again")
        let (soon, usual) = (SecurityEventPoll.pauseForMore, SecurityEventPoll.pause)
        #expect(pauses == [soon, soon, soon, usual, soon, usual, soon, soon])
        #expect(log.lines.count { $0.contains("the provider's answer with one token is too large") } == 1)
        #expect(try await !isEnabled(service))
    }

    @Test func `a token of another provider is refused, although that one is trusted`() async throws {
        let service = try await TestService()
        let other = try token(service, Self.disabled, claims: ["iss": .string(Self.other)])
        // Nobody can judge it now, and it must not wait at the front of the stream until somebody can.
        service.issuer.published.withLock { $0 = nil }
        let (questions, _) = await poll(service, [sets(["1": other]), sets([:])])
        #expect(questions.last?["setErrs"]?["1"]?["err"] == "invalid_issuer")
    }

    @Test func `a poll that ends takes no more tokens`() async throws {
        let service = try await TestService()
        let answer = sets(["1": try token(service, Self.disabled)])
        await Task { _ = await poll(service, [answer], beforeAnswer: { withUnsafeCurrentTask { $0?.cancel() } }) }.value
        #expect(try await isEnabled(service) == true)
    }

    @Test
    func
        `a question carries the token of its file, follows no redirect, and is not sent with a file that all may read`()
        async throws
    {
        let seen = Locked<[String]>([])
        let router = Router()
        router.post("/poll") { request, _ in
            let body = String(buffer: try await request.body.collect(upTo: 1 << 16))
            seen.withLock { $0.append("\(request.headers[.authorization] ?? "none") \(body)") }
            return Response(status: .ok, body: .init(byteBuffer: .init(string: #"{"sets": {}}"#)))
        }
        // As large as a hundred pushed tokens.
        router.post("/large") { _, _ in
            Response(status: .ok, body: .init(byteBuffer: .init(repeating: 0x20, count: 100 * (64 << 10))))
        }
        router.post("/too-large") { _, _ in
            Response(status: .ok, body: .init(byteBuffer: .init(repeating: 0x20, count: (8 << 20) + 1)))
        }
        router.post("/moved") { _, _ in Response(status: .found, headers: [.location: "/poll"]) }
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "token")
        try Data("t-1\n".utf8).write(to: file)
        let link = folder.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        @Sendable func mode(_ mode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        }
        try await Application(router: router).test(.live) { client in
            @Sendable func ask(_ path: String, _ file: URL?) async throws -> Result<Data?, TokenRefusal> {
                let poll = try #require(URL(string: "http://127.0.0.1:\(client.port ?? 0)/\(path)"))
                return await NetworkSecurityEvents(stream: .init(poll: poll, tokenFile: file)).ask(Data("{}".utf8))
            }
            try mode(0o640)
            #expect(try await ask("poll", file).get() == Data(#"{"sets": {}}"#.utf8))
            #expect(try await ask("poll", nil).get()?.isEmpty == false)
            #expect(try await ask("large", nil).get()?.count == 100 * (64 << 10))
            #expect(try await ask("too-large", nil).get() == nil)
            #expect(try await ask("poll", link).get()?.isEmpty == false)
            try mode(0o644)
            for (path, file, reason) in [
                ("poll", file, "every user of this machine may read or change the token for security events"),
                ("poll", folder.appending(path: "none"), "the token for security events cannot be read"),
                ("moved", nil, "the provider answered 302"),
                ("none", nil, "the provider answered 404"),
            ] as [(String, URL?, String)] {
                guard case .failure(let refusal) = try await ask(path, file) else {
                    Issue.record("\(path) was answered")
                    continue
                }
                #expect(refusal.reason == reason)
            }
        }
        #expect(seen.withLock { $0 } == ["Bearer t-1 {}", "none {}", "Bearer t-1 {}"])
    }
}

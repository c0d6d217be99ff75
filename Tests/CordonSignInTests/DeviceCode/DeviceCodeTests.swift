import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@Suite struct DeviceCodeTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    private var request: DeviceCodeRequest {
        DeviceCodeRequest(scopes: SignInFixture.scopes, resource: SignInFixture.resource)
    }

    @Test func `a person signs in on another screen`() async throws {
        let provider = fixture.provider
        let result = try await fixture.client().signIn(request) { prompt in
            #expect(prompt.userCode == "WDJB-MJHT")
            #expect(prompt.page.absoluteString == provider.issuer + "/activate")
            #expect(prompt.completePage?.query()?.contains("WDJB-MJHT") == true)
            await provider.enter(userCode: prompt.userCode, as: .worker)
        }
        #expect(result.account.id == "oid-worker-a")
        #expect(result.accessToken.isBound)
        #expect(fixture.time.slept == [.seconds(5)], "the first poll must wait one interval")
    }

    @Test func `a sign-out during a browser sign-in does not refuse a later device code`() async throws {
        let provider = fixture.provider
        let client = try await fixture.signedInClient()
        let browser = BrowserLauncher { page, _ in
            try await client.signOut("oid-worker-a")
            return await provider.visit(page, as: .worker)
        }
        let error = await failure { try await client.signIn(SignInFixture.request, browser: browser) }
        #expect(error?.fault == .signedOut)
        let result = try await client.signIn(request) { await provider.enter(userCode: $0.userCode, as: .worker) }
        #expect(result.account.id == "oid-worker-a")
    }

    @Test(arguments: [
        "WDJB\u{1B}[2J", "WDJB\u{9B}31m", "WDJB\nMJHT", "\u{202E}THJM-BJDW", "WDJB\u{200B}MJHT", "WDJB\u{2028}", "",
        String(repeating: "W", count: 65),
    ])
    func `a code that a terminal would obey, or that a person could not type, is refused before it is shown`(
        _ code: String
    ) async throws {
        let transport = RewritingTransport(inner: fixture.provider.transport) { path, body in
            guard path == "/device" else { return body }
            var answer = try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:]
            answer["user_code"] = code
            return try JSONSerialization.data(withJSONObject: answer)
        }
        let client = try fixture.client(transport: transport)
        let error = await failure {
            try await client.signIn(request) { Issue.record("shown: \(TerminalText($0.userCode))") }
        }
        #expect(error?.code == .server && error?.fault == .invalidResponse)
        #expect(await fixture.provider.count(of: "/token") == 0)
    }

    @Test func `slow_down makes every later interval five seconds longer`() async throws {
        let provider = fixture.provider
        await provider.setFaults([.slowDownOnce])
        _ = try await fixture.client().signIn(request) { await provider.enter(userCode: $0.userCode, as: .worker) }
        #expect(fixture.time.slept == [.seconds(5), .seconds(10)])
    }

    @Test func `polling stops at the code's end`() async throws {
        let error = await failure { try await fixture.client().signIn(request) { _ in } }
        #expect(error?.code == .interactionRequired)
        #expect(error?.fault == .timedOut)
        #expect(await fixture.provider.count(of: "/token") == 119)
    }

    @Test func `a clock that goes slow does not have the provider asked sooner at the code's end`() async throws {
        let time = fixture.time
        var environment = time.environment
        let sleep = environment.sleep
        environment.sleep = { duration in
            try await sleep(duration)
            time.advance(.zero - duration / 2_000)
        }
        let client = try SignInClient(
            configuration: fixture.configuration(), transport: fixture.provider.transport, cache: fixture.cache,
            environment: environment)
        let error = await failure { try await client.signIn(request) { _ in } }
        #expect(error?.fault == .timedOut)
        #expect(time.slept.dropLast().allSatisfy { $0 == .seconds(5) })
        #expect(await fixture.provider.count(of: "/token") == 120)
    }

    @Test func `a person who says no cancels`() async throws {
        let provider = fixture.provider
        let error = await failure {
            try await fixture.client().signIn(request) { await provider.enter(userCode: $0.userCode, as: nil) }
        }
        #expect(error?.code == .cancelled)
        #expect(error?.fault == .accessDenied)
    }

    @Test func `a network that comes back does not end the wait, and is asked less often meanwhile`() async throws {
        let provider = fixture.provider
        let time = fixture.time
        let transport = FlakyTransport(provider.transport, failures: 2, path: "/token")
        let client = try fixture.client(transport: transport)
        let result = try await client.signIn(request) { await provider.enter(userCode: $0.userCode, as: .worker) }
        #expect(result.account.id == "oid-worker-a")
        #expect(time.slept == [.seconds(5), .seconds(10), .seconds(20)])
    }

    @Test func `a failure never makes the interval shorter than the provider's`() async throws {
        let provider = fixture.provider
        let slow = RewritingTransport(inner: provider.transport) { path, body in
            guard path == "/device" else { return body }
            var answer = try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:]
            answer["interval"] = 120
            return try JSONSerialization.data(withJSONObject: answer)
        }
        let client = try fixture.client(transport: FlakyTransport(slow, failures: 1, path: "/token"))
        _ = try await client.signIn(request) { await provider.enter(userCode: $0.userCode, as: .worker) }
        #expect(fixture.time.slept == [.seconds(120), .seconds(120)])
    }

    @Test func `a busy provider is asked again when the pause is over that it asks for, or the code`() async throws {
        await fixture.provider.setFaults([.overloaded])
        let error = await failure { try await fixture.client().signIn(request) { _ in } }
        #expect(error?.code == .interactionRequired && error?.fault == .timedOut)
        // The code lives for 600 s, and each answer asks for 90 s.
        #expect(fixture.time.slept == [5, 90, 90, 90, 90, 90, 90, 55].map { Duration.seconds($0) })
    }

    @Test func `a pause that the provider asks for counts once`() async throws {
        let provider = fixture.provider
        await provider.setFaults([.overloaded])
        let transport = RewritingTransport(inner: provider.transport) { path, body in
            if path == "/token" { await provider.setFaults([]) }
            return body
        }
        _ = await failure { try await fixture.client(transport: transport).signIn(request) { _ in } }
        #expect(fixture.time.slept.prefix(4) == [.seconds(5), .seconds(90), .seconds(10), .seconds(10)])
    }

    @Test func `another person than required is refused`() async throws {
        let provider = fixture.provider
        var request = request
        request.account = "oid-worker-a"
        let error = await failure {
            try await fixture.client().signIn(request) {
                await provider.enter(userCode: $0.userCode, as: .otherWorker)
            }
        }
        #expect(error?.code == .accountMismatch)
    }

    @Test func `a code for a person who signs out meanwhile is no longer asked about`() async throws {
        let client = try await fixture.signedInClient()
        let before = await fixture.provider.count(of: "/token")
        var request = request
        request.account = "oid-worker-a"
        let asked = request
        let error = await failure {
            try await client.signIn(asked) { _ in _ = try? await client.signOut("oid-worker-a") }
        }
        #expect(error?.fault == .signedOut)
        #expect(await fixture.provider.count(of: "/token") == before)
    }

    @Test func `cancelling the task stops the polling`() async throws {
        let client = try fixture.client()
        let request = request
        let task = Task {
            try await client.signIn(request) { _ in
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        let error = await failure { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(await fixture.provider.count(of: "/token") == 0)
    }
}

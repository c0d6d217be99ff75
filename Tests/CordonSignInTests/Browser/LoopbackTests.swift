import CordonIdentity
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoopbackTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    /// Signs in through real sockets: the browser is a function that gets the provider's answer and visits it.
    private func signIn(
        _ browse: @escaping @Sendable (_ answer: URL, _ redirect: URL) async throws -> Void,
        _ change: (inout SignInConfiguration) -> Void = { _ in }
    ) async throws -> SignInResult {
        let provider = fixture.provider
        let browser = BrowserLauncher { page, redirect in
            guard let answer = await provider.visit(page, as: .worker) else { return nil }
            try await browse(answer, redirect)
            return nil
        }
        return try await fixture.client(change).signIn(SignInFixture.request, browser: browser)
    }

    @Test func `the answer arrives at 127.0.0.1 and the page shows none of it`() async throws {
        let result = try await signIn { answer, redirect in
            #expect(redirect.host() == "127.0.0.1")
            let page = try await RawHTTP.get(answer)
            #expect(page.hasPrefix("HTTP/1.1 200"))
            #expect(page.contains("Cache-Control: no-store"))
            for secret in ["code", "state", "iss="] { #expect(!page.contains(secret)) }
        }
        #expect(result.account.id == "oid-worker-a")
    }

    @Test func `a second request after the answer is refused`() async throws {
        _ = try await signIn { answer, _ in
            _ = try await RawHTTP.get(answer)
            await #expect(throws: RawHTTP.Refused.self) { try await RawHTTP.get(answer) }
        }
    }

    @Test func `other paths, methods and hosts are not answers`() async throws {
        _ = try await signIn { answer, redirect in
            let port = redirect.port ?? 0
            let path = answer.path() + "?" + (answer.query() ?? "")
            let wrong = [
                "GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n",
                "GET /callback/../x HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n",
                "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n",
                "GET \(path) HTTP/1.1\r\nHost: attacker.example\r\n\r\n",
                "GET \(path) HTTP/1.1\r\n\r\n",
                "GET ? HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n",
                "GET ?\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n",
                "nonsense\r\n\r\n",
            ]
            for request in wrong {
                let answer = try await RawHTTP.exchange(request, port: UInt16(port))
                #expect(answer.hasPrefix("HTTP/1.1 404"), "\(request.prefix(30)) got \(answer.prefix(20))")
            }
            _ = try await RawHTTP.get(answer)
        }
    }

    @Test func `idle and endless connections do not hold up the answer`() async throws {
        _ = try await signIn { answer, redirect in
            let port = UInt16(redirect.port ?? 0)
            let idle = try (0..<20).map { _ in try RawHTTP.connect(port: port) }
            defer { idle.forEach { RawHTTP.disconnect($0) } }
            let endless = try await RawHTTP.exchange(
                "GET /callback?" + String(repeating: "a", count: 40_000), port: port)
            #expect(endless.isEmpty)
            _ = try await RawHTTP.get(answer)
        }
    }

    @Test func `registered ports are walked in order`() async throws {
        let taken = try RawHTTP.listen()
        defer { RawHTTP.disconnect(taken.descriptor) }
        let free = try RawHTTP.listen()
        RawHTTP.disconnect(free.descriptor)
        _ = try await signIn(
            { answer, redirect in
                #expect(redirect.port == Int(free.port))
                #expect(redirect.path() == "/back")
                _ = try await RawHTTP.get(answer)
            },
            { $0.redirect = .loopback(path: "/back", ports: [taken.port, free.port]) })
    }

    @Test func `no free registered port is a configuration error`() async throws {
        let taken = try RawHTTP.listen()
        defer { RawHTTP.disconnect(taken.descriptor) }
        let error = await failure {
            try await signIn({ _, _ in }, { $0.redirect = .loopback(ports: [taken.port]) })
        }
        #expect(error?.fault == .invalidRedirect)
    }

    @Test func `nobody coming back ends with a time-out`() async throws {
        let error = await failure { try await signIn({ _, _ in }, { $0.interactionTimeout = .milliseconds(50) }) }
        #expect(error?.code == .cancelled)
        #expect(error?.fault == .timedOut)
    }

    @Test func `cancelling the task stops the wait and closes the port`() async throws {
        let ports = PageRecorder()
        let fixture = fixture
        let opened = AsyncStream<Void>.makeStream()
        let browser = BrowserLauncher { _, redirect in
            await ports.add(redirect)
            opened.continuation.yield()
            return nil
        }
        let task = Task { try await fixture.client().signIn(SignInFixture.request, browser: browser) }
        for await _ in opened.stream { break }
        task.cancel()
        let error = await failure { try await task.value }
        #expect(error?.code == .cancelled)
        let redirect = try #require(await ports.pages.first)
        await #expect(throws: RawHTTP.Refused.self) { try await RawHTTP.get(redirect) }
    }
}

import CordonBase
import CordonIdentity
import CordonTesting
import Foundation
import Glibc
import Testing

@testable import CordonSignIn

@Suite(.timeLimit(.minutes(10))) struct LoopbackTests {
    let fixture: SignInFixture

    init() throws { fixture = try SignInFixture() }

    /// Signs in through real sockets: the browser is a function that gets the provider's answer and visits it.
    private func signIn(
        _ browse: @escaping @Sendable (_ answer: URL, _ redirect: URL) async throws -> Void,
        _ change: (inout SignInConfiguration) -> Void = { _ in }
    ) async throws -> SignInResult {
        let provider = fixture.provider
        // The sign-in does not wait for its browser to end, but what the browser sees is looked at here.
        let browsing = Locked<Task<Void, any Error>?>(nil)
        let browser = BrowserLauncher { page, redirect in
            guard let answer = await provider.visit(page, as: .worker) else { return nil }
            let task = Task { try await browse(answer, redirect) }
            browsing.withLock { $0 = task }
            try await task.value
            return nil
        }
        let client = try fixture.client(change)
        do {
            let result = try await client.signIn(SignInFixture.request, browser: browser)
            try await browsing.withLock { $0 }?.value
            return result
        } catch {
            _ = await browsing.withLock { $0 }?.result
            throw error
        }
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
                "GET /callback?" + String(repeating: "a", count: 140_000), port: port)
            #expect(endless.isEmpty)
            _ = try await RawHTTP.get(answer)
        }
    }

    @Test func `a stranger's request ends no sign-in and gets nothing`() async throws {
        let result = try await signIn { answer, redirect in
            let state = URLComponents(url: answer, resolvingAgainstBaseURL: false)?.queryItems?.first {
                $0.name == "state"
            }?.value
            let genuine = try #require(state)
            for query in [
                "", "?", "?code=stolen", "?code=stolen&state=", "?code=stolen&state=\(genuine)x",
                "?state=\(genuine.dropLast())",
                "?error=access_denied&state=forged", "?state=\(genuine)&state=\(genuine)", "?State=\(genuine)",
                "?" + String(repeating: "a", count: 20_000),
            ] {
                let page = try await RawHTTP.exchange(
                    "GET /callback\(query) HTTP/1.1\r\nHost: 127.0.0.1:\(redirect.port ?? 0)\r\n\r\n",
                    port: UInt16(redirect.port ?? 0))
                #expect(page.hasPrefix("HTTP/1.1 404"), "\(query.prefix(40))")
            }
            #expect(try await RawHTTP.get(answer).hasPrefix("HTTP/1.1 200"))
        }
        #expect(result.account.id == "oid-worker-a")
    }

    @Test func `connections that say nothing make way, also when they are more than it holds`() async throws {
        _ = try await signIn { answer, redirect in
            let port = UInt16(redirect.port ?? 0)
            let idle = try (0..<100).map { _ in try RawHTTP.connect(port: port) }
            defer { idle.forEach { RawHTTP.disconnect($0) } }
            #expect(try await RawHTTP.get(answer).hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `strangers with half a request each do not put out the browser that has just connected`() async throws {
        _ = try await signIn { answer, redirect in
            let port = UInt16(redirect.port ?? 0)
            let strangers = try (0..<LoopbackSocket.mostConnections).map { _ in
                let stranger = try RawHTTP.connect(port: port)
                RawHTTP.send("GET /callback HTTP/1.1\r\n", over: stranger)
                return stranger
            }
            let browser = try RawHTTP.connect(port: port)
            let last = try RawHTTP.connect(port: port)
            defer { (strangers + [last]).forEach { RawHTTP.disconnect($0) } }
            // There is room for all but two. Once two are put out, the last one has been taken.
            try await until { [browser, strangers[0], strangers[1]].count { RawHTTP.hasNews($0) } == 2 }
            let path = answer.path() + "?" + (answer.query() ?? "")
            let page = await RawHTTP.exchange(
                "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", over: browser)
            try #require(page.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `a program that holds the pipe of a stopped sign-in does not keep it waiting`() throws {
        let socket = try #require(LoopbackSocket(port: 0))
        let end = try #require(socket.stopper.withLock { $0 })
        for descriptor in [socket.wake, end] {
            #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "a program that is started now holds it, too")
        }
        // As a program does that was started before the flag was set.
        let held = dup(end)
        defer { close(held) }
        socket.stop()
        guard case .stopped = socket.serve(within: .seconds(60), reply: { _ in .refused(Data()) }) else {
            Issue.record("It waited until the end.")
            return
        }
    }

    @Test func `a system that takes no connections is not asked again and again`() throws {
        let asked = Locked(0)
        let socket = try #require(
            LoopbackSocket(port: 0) { _ in
                asked.withLock { $0 += 1 }
                errno = EMFILE
                return -1
            })
        let waiting = try RawHTTP.connect(port: socket.port)
        defer { RawHTTP.disconnect(waiting) }
        guard case .timedOut = socket.serve(within: .milliseconds(450), reply: { _ in .refused(Data()) }) else {
            Issue.record("It did not wait until the end.")
            return
        }
        #expect((1...20).contains(asked.withLock { $0 }))
    }

    @Test func `the page after a refusal does not say that it worked`() async throws {
        let error = await failure {
            try await signIn { answer, redirect in
                var refusal = try #require(URLComponents(url: answer, resolvingAgainstBaseURL: false))
                refusal.queryItems?.removeAll { $0.name == "code" }
                refusal.queryItems?.append(URLQueryItem(name: "error", value: "access_denied"))
                let page = try await RawHTTP.get(try #require(refusal.url))
                #expect(page.contains("did not succeed") && !page.contains("access_denied"))
            }
        }
        #expect(error?.code == .cancelled && error?.fault == .accessDenied)
    }

    @Test func `an answer of 60 kB ends the sign-in at once, with an error`() async throws {
        let error = await failure {
            try await signIn { answer, _ in
                var long = try #require(URLComponents(url: answer, resolvingAgainstBaseURL: false))
                long.queryItems?.append(URLQueryItem(name: "more", value: String(repeating: "a", count: 60_000)))
                _ = try await RawHTTP.get(try #require(long.url))
            }
        }
        #expect(error?.code == .server && error?.fault == .invalidResponse)
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

    @Test func `a sign-out page that nobody finishes keeps no registered port from the next sign-in`() async throws {
        let free = try RawHTTP.listen()
        RawHTTP.disconnect(free.descriptor)
        let client = try await fixture.signedInClient { $0.redirect = .loopback(ports: [free.port]) }
        let opened = AsyncStream<Void>.makeStream()
        let leaving = Task {
            try await client.signOut("oid-worker-a", endingSessionIn: .opening { _ in opened.continuation.yield() })
        }
        for await _ in opened.stream { break }
        let provider = fixture.provider
        let next = try await client.signIn(
            SignInFixture.request,
            browser: .opening { page in
                _ = try await RawHTTP.get(try #require(await provider.visit(page, as: .otherWorker)))
            })
        #expect(next.account.id == "oid-worker-b")
        #expect(try await leaving.value.browserSession == .mayRemain)
    }

    @Test func `a sign-in from which no one comes back ends with a time-out`() async throws {
        let error = await failure { try await signIn({ _, _ in }, { $0.interactionTimeout = .milliseconds(50) }) }
        #expect(error?.code == .cancelled)
        #expect(error?.fault == .timedOut)
    }

    /// A browser that stays open until the test lets go of it, whoever cancels it.
    private func stayingOpen(
        _ show: @escaping @Sendable (URL) async throws -> Void = { _ in }
    ) -> (browser: BrowserLauncher, close: AsyncStream<Void>.Continuation) {
        let (closed, close) = AsyncStream<Void>.makeStream()
        let browser = BrowserLauncher { page, _ in
            try await show(page)
            await Task.detached { for await _ in closed {} }.value
            return nil
        }
        return (browser, close)
    }

    @Test func `a sign-in does not wait for a browser that stays open after the answer`() async throws {
        let provider = fixture.provider
        let (browser, close) = stayingOpen { page in
            _ = try await RawHTTP.get(try #require(await provider.visit(page, as: .worker)))
        }
        defer { close.finish() }
        let result = try await fixture.client().signIn(SignInFixture.request, browser: browser)
        #expect(result.account.id == "oid-worker-a")
    }

    @Test(arguments: [nil, "app.fieldnotes://auth"])
    func `a browser that stays open without an answer ends with a time-out`(redirect: String?) async throws {
        let redirect = redirect.flatMap { URL(string: $0) }.map { SignInRedirect.application($0) } ?? .loopback()
        let (browser, close) = stayingOpen()
        defer { close.finish() }
        let client = try fixture.client {
            $0.redirect = redirect
            $0.interactionTimeout = .milliseconds(50)
        }
        let error = await failure { try await client.signIn(SignInFixture.request, browser: browser) }
        #expect(error?.code == .cancelled && error?.fault == .timedOut)
        // The next one is not refused as a second at the same time.
        let next = await failure { try await client.signIn(SignInFixture.request, browser: browser) }
        #expect(next?.fault == .timedOut)
    }

    @Test func `a browser that stays open does not keep the socket`() async throws {
        weak var listener: LoopbackListener?
        let (browser, close) = stayingOpen()
        defer { close.finish() }
        func visit() async throws {
            let redirect = try SignInReturn(.loopback())
            listener = redirect.listener
            let page = try #require(URL(string: fixture.provider.issuer))
            let error = await failure {
                try await redirect.visit(page, browser: browser, state: "s", timeout: .milliseconds(50))
            }
            #expect(error?.fault == .timedOut)
        }
        try await visit()
        try await until { listener == nil }
    }

    @Test func `a sign-out does not wait for a browser that stays open either`() async throws {
        let client = try await fixture.signedInClient { $0.interactionTimeout = .milliseconds(50) }
        let (browser, close) = stayingOpen()
        defer { close.finish() }
        let report = try await client.signOut("oid-worker-a", endingSessionIn: browser)
        #expect(report.browserSession == .mayRemain)
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

import AsyncHTTPClient
import CordonBase
import CordonHTTPClient
import CordonHTTPGuard
import CordonSignIn
import CordonTestSupport
import Foundation
import HTTPTypes
import NIOCore
import NIOSSL
import Testing

/// Pinning at run time against a real TLS server (SDK-CP-02, SRV-CI-088).
@Suite(.tags(.machineAlone), .timeLimit(.minutes(10))) struct ServerTrustTests {
    private func get(_ transport: AsyncHTTPTransport, _ server: TLSServer) async -> Result<String, TransportError> {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/")
        do throws(TransportError) {
            let answer = try await transport.send(request, body: nil, limit: 100, timeout: .seconds(60))
            return .success(String(decoding: answer.body, as: UTF8.self))
        } catch { return .failure(error) }
    }

    private let untrusted = Result<String, TransportError>.failure(TransportError(.untrustedServer, reason: ""))

    @Test(arguments: [(TLSVersion.tlsv11, false), (.tlsv12, true)])
    func `no client of the package speaks a TLS older than 1_2`(newest: TLSVersion, isSpoken: Bool) async throws {
        let identity = try TLSIdentity()
        let server = try await TLSServer(identity, upTo: newest)
        var configuration = HTTPClient.Configuration.guarded
        configuration.tlsConfiguration?.trustRoots = .certificates([
            try NIOSSLCertificate(bytes: Array(identity.certificate), format: .der)
        ])
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let request = HTTPClientRequest(url: "https://127.0.0.1:\(server.port)/")
        do {
            _ = try await client.execute(request, timeout: .seconds(60))
            #expect(isSpoken)
        } catch {
            #expect(!isSpoken && error is NIOSSLError, "\(error)")
        }
        try await client.shutdown()
        await server.stop()
    }

    @Test func `the pinned key is accepted, and a wrong one is refused before anything is sent`() async throws {
        let identity = try TLSIdentity()
        let server = try await TLSServer(identity)
        let right = try AsyncHTTPTransport(
            trust: ServerTrust(authorities: [identity.certificate]) { key, host in
                key == identity.publicKey && host == "127.0.0.1"
            })
        #expect(await get(right, server) == .success("ok"))
        #expect(server.requests.withLock { $0 } == 1)
        let wrong = try AsyncHTTPTransport(
            trust: ServerTrust(authorities: [identity.certificate]) { key, _ in key == Data("another".utf8) })
        for _ in 0..<3 { #expect(await get(wrong, server) == untrusted) }
        #expect(await stream(wrong, server) == .untrustedServer)
        #expect(server.requests.withLock { $0 } == 1, "a request reached a server that was not trusted")
        await right.shutdown()
        await wrong.shutdown()
        await server.stop()
    }

    @Test func `an organisation's own authority is trusted from a file, beside those of the system`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (own, strange) = (try TLSIdentity(), try TLSIdentity())
        let file = folder.appending(path: "authority.pem")
        let text = own.certificate.base64EncodedString(options: .lineLength64Characters)
        try Data("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n".utf8).write(to: file)
        var trust = ServerTrust()
        try trust.add(authoritiesIn: file)
        #expect(trust.furtherAuthorities == [own.certificate] && trust.authorities == nil)
        let transport = try AsyncHTTPTransport(trust: trust)
        let (known, unknown) = (try await TLSServer(own), try await TLSServer(strange))
        #expect(await get(transport, known) == .success("ok"))
        #expect(await get(transport, unknown) != .success("ok"))
        #expect(unknown.requests.withLock { $0 } == 0)
        await transport.shutdown()
        await known.stop()
        await unknown.stop()
    }

    @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
    func `a file without certificates to trust is refused`(text: String) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let file = folder.appending(path: "authority.pem")
        var trust = ServerTrust()
        #expect(throws: TransportError(.badRequest, reason: "")) { try trust.add(authoritiesIn: file) }
        try Data(text.utf8).write(to: file)
        #expect(throws: TransportError(.badRequest, reason: "")) { try trust.add(authoritiesIn: file) }
        #expect(trust.furtherAuthorities.isEmpty)
    }

    @Test func `TLS 1.3 alone is spoken unless 1.2 is asked for`() async throws {
        let identity = try TLSIdentity()
        let (old, new) = (try await TLSServer(identity, upTo: .tlsv12), try await TLSServer(identity))
        var trust = ServerTrust(authorities: [identity.certificate])
        let strict = try AsyncHTTPTransport(trust: trust)
        trust.requiresTLS13 = false
        let lenient = try AsyncHTTPTransport(trust: trust)
        #expect(await get(lenient, old) == .success("ok"))
        #expect(await get(strict, new) == .success("ok"))
        #expect(await get(strict, old) != .success("ok"))
        #expect(old.requests.withLock { $0 } == 1, "a request reached a server over TLS 1.2")
        await lenient.shutdown()
        await strict.shutdown()
        await old.stop()
        await new.stop()
    }

    private func stream(_ transport: AsyncHTTPTransport, _ server: TLSServer) async -> TransportError.Code? {
        let request = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/")
        do throws(TransportError) {
            _ = try await transport.stream(request, timeout: .seconds(60))
            return nil
        } catch { return error.code }
    }

    @Test func `with two pins the server's key changes without a break, and an old pin ends open connections`()
        async throws
    {
        let (old, new) = (try TLSIdentity(), try TLSIdentity())
        let (before, after) = (try await TLSServer(old), try await TLSServer(new))
        let pins = Locked<Set<Data>>([old.publicKey])
        let transport = try AsyncHTTPTransport(
            trust: ServerTrust(authorities: [old.certificate, new.certificate]) { key, _ in
                pins.withLock { $0.contains(key) }
            })
        #expect(await get(transport, before) == .success("ok"))
        #expect(await get(transport, after) == untrusted)
        pins.withLock { _ = $0.insert(new.publicKey) }
        #expect(await get(transport, before) == .success("ok"))
        #expect(await get(transport, after) == .success("ok"))
        #expect(before.connections.withLock { $0 } == 1, "an open connection is used again")
        // The old key is given up: the connection to it is still open, and must not be used.
        pins.withLock { _ = $0.remove(old.publicKey) }
        #expect(await get(transport, before) == untrusted)
        #expect(await get(transport, after) == .success("ok"))
        #expect(before.requests.withLock { $0 } == 2)
        await transport.shutdown()
        #expect(await get(transport, after) != .success("ok"), "a transport that was shut down sends nothing")
        for server in [before, after] { await server.stop() }
    }

    @Test func `a pin is no way around the chain or the name`() async throws {
        let (identity, other) = (try TLSIdentity(), try TLSIdentity())
        let server = try await TLSServer(identity)
        let transport = try AsyncHTTPTransport(
            trust: ServerTrust(authorities: [other.certificate]) { _, _ in true })
        guard case .failure(let error) = await get(transport, server) else {
            Issue.record("a certificate of an unknown authority was accepted")
            return
        }
        #expect(error.code == .untrustedServer)
        #expect(server.requests.withLock { $0 } == 0)
        await transport.shutdown()
        await server.stop()
    }

    @Test func `why no connection by TLS was made is told in words that are no library's`() async throws {
        let (identity, other) = (try TLSIdentity(), try TLSIdentity())
        let (server, old) = (try await TLSServer(identity), try await TLSServer(identity, upTo: .tlsv12))
        let elsewhere = try TLSIdentity(for: [127, 0, 0, 9])
        let misplaced = try await TLSServer(elsewhere)
        let plain = try RawServer { connection in
            connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            connection.waitForEnd()
        }
        let trusting = try AsyncHTTPTransport(
            trust: ServerTrust(authorities: [identity.certificate, elsewhere.certificate]))
        let distrusting = try AsyncHTTPTransport(trust: ServerTrust(authorities: [other.certificate]))
        let noTLS = "the server speaks no TLS, or none of the versions that are accepted"
        let cases: [(AsyncHTTPTransport, String, TransportError.Code, String)] = [
            (distrusting, "127.0.0.1:\(server.port)", .untrustedServer, "the server's certificate is not trusted"),
            (trusting, "127.0.0.1:\(misplaced.port)", .untrustedServer, "the server's certificate is for another name"),
            (trusting, "127.0.0.1:\(plain.port)", .unreachable, noTLS),
            (trusting, "127.0.0.1:\(old.port)", .unreachable, noTLS),
        ]
        for (transport, authority, code, words) in cases {
            let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/")
            await #expect {
                _ = try await transport.send(request, body: nil, limit: 100, timeout: .seconds(60))
            } throws: { error in
                let error = error as? TransportError
                return error?.code == code && error?.reason == words
            }
        }
        #expect(server.requests.withLock { $0 } == 0 && misplaced.requests.withLock { $0 } == 0)
        await trusting.shutdown()
        await distrusting.shutdown()
        plain.stop()
        await misplaced.stop()
        await server.stop()
        await old.stop()
    }

    @Test func `many requests at once are all refused, and the transport still ends`() async throws {
        let identity = try TLSIdentity()
        let server = try await TLSServer(identity)
        let transport = try AsyncHTTPTransport(
            trust: ServerTrust(authorities: [identity.certificate]) { _, _ in false })
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { await get(transport, server) } }
            for await result in group { #expect(result == untrusted) }
        }
        #expect(server.requests.withLock { $0 } == 0)
        await transport.shutdown()
        await server.stop()
    }

    @Test func `what is no certificate cannot be trusted`() {
        #expect(throws: TransportError(.badRequest, reason: "")) {
            _ = try AsyncHTTPTransport(trust: ServerTrust(authorities: [Data("no".utf8)]))
        }
    }
}

import CordonBase
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// What a service asks of its providers over the network, and of no other server.
@Suite struct NetworkIssuerDocumentsTests {
    @Test func `a provider that sends the service elsewhere has it ask no other server`() async throws {
        let asked = Locked<[String]>([])
        let elsewhere = Router()
        elsewhere.get("**") { request, _ in
            asked.withLock { $0.append(request.uri.path) }
            return "{}"
        }
        try await Application(router: elsewhere).test(.live) { other in
            let target = "http://127.0.0.1:\(other.port ?? 0)"
            let provider = Router()
            provider.get("**") { request, _ in
                let path = request.uri.path
                asked.withLock { $0.append(path) }
                let isFirst = path.hasPrefix("/first/")
                guard isFirst || path.hasSuffix("keys") else {
                    let host = request.head.authority ?? ""
                    return Response(
                        status: .ok, headers: [.contentType: "application/json"],
                        body: .init(
                            byteBuffer: .init(
                                string: #"{"issuer": "http://\#(host)/second", "jwks_uri": "http://\#(host)/keys"}"#)))
                }
                return Response(status: .found, headers: [.location: target + "/leak"])
            }
            try await Application(router: provider).test(.live) { client in
                let base = "http://127.0.0.1:\(client.port ?? 0)"
                for issuer in ["/first", "/second"] {
                    do throws(TokenRefusal) {
                        _ = try await NetworkIssuerDocuments().keySet(of: base + issuer)
                        Issue.record("keys were found")
                    } catch {
                        #expect(
                            error.code == .issuerUnavailable && error.reason.contains("another address"), "\(error)")
                    }
                }
            }
        }
        let paths = asked.withLock { $0 }
        // The control: the provider itself was asked.
        #expect(paths.contains("/keys") && paths.contains { $0.hasPrefix("/first/") })
        #expect(!paths.contains("/leak"))
    }

    @Test func `a provider whose answer has a status that no answer has is unavailable, and the service lives on`()
        async throws
    {
        let provider = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n")
            connection.waitForEnd()
        }
        defer { provider.stop() }
        await #expect(throws: TokenRefusal(.issuerUnavailable, "")) {
            _ = try await NetworkIssuerDocuments().keySet(of: "http://127.0.0.1:\(provider.port)/it")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a provider that stops in the middle of its answer is unavailable, and not waited for`() async throws {
        let provider = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            connection.waitForEnd()
        }
        defer { provider.stop() }
        do throws(TokenRefusal) {
            _ = try await NetworkIssuerDocuments(timeout: .milliseconds(200))
                .keySet(of: "http://127.0.0.1:\(provider.port)/it")
            Issue.record("keys were found")
        } catch {
            #expect(error.code == .issuerUnavailable && error.reason.contains("in time"), "\(error)")
        }
    }

    @Test func `why no connection to a provider can be made is told at once, and does not count as no answer in time`()
        async throws
    {
        let connections = Locked(0)
        let provider = try RawServer { connection in
            connections.withLock { $0 += 1 }
            connection.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            connection.waitForEnd()
        }
        defer { provider.stop() }
        do throws(TokenRefusal) {
            _ = try await NetworkIssuerDocuments(timeout: .seconds(5))
                .keySet(of: "https://127.0.0.1:\(provider.port)/it")
            Issue.record("keys were found")
        } catch {
            #expect(error.code == .issuerUnavailable && error.reason == "the provider could not be reached")
            #expect(error.note?.contains("SSL") == true, "\(error)")
        }
        #expect(connections.withLock { $0 } == 1)
    }

    @Test(arguments: [
        "http://127.0.0.1:99999/keys", "http://127.0.0.1:65536/keys", "https://login.example.test:70000/keys",
        "http://169.254.169.254/keys", "http://[fd00:ec2::254]/keys", "http://localhost.example.test/keys",
        "http://user:word@127.0.0.1/keys", "file:///etc/passwd", "https:", "https://", "//127.0.0.1/keys", "keys", "",
    ])
    func `an address of keys that no request may be sent to is refused, and the service lives on`(
        address: String
    ) async throws {
        let provider = Router()
        let keys = Locked(address)
        provider.get("**") { request, _ -> String in
            let host = request.head.authority ?? ""
            guard !request.uri.path.hasSuffix("/keys") else { return #"{"keys": []}"# }
            let place = keys.withLock { $0 }.replacing("HOST", with: host)
            return #"{"issuer": "http://\#(host)/it", "jwks_uri": "\#(place)"}"#
        }
        try await Application(router: provider).test(.live) { client in
            let issuer = "http://127.0.0.1:\(client.port ?? 0)/it"
            do throws(TokenRefusal) {
                _ = try await NetworkIssuerDocuments().keySet(of: issuer)
                Issue.record("keys were found")
            } catch {
                #expect(error.code == .issuerUnavailable && error.reason.contains("address"), "\(error)")
            }
            // The control: the same provider with an address of its own.
            keys.withLock { $0 = "http://HOST/keys" }
            let found = try await NetworkIssuerDocuments().keySet(of: issuer)
            #expect(found == Data(#"{"keys": []}"#.utf8))
        }
    }
}

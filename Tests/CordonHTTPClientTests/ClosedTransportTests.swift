import AsyncHTTPClient
import CordonSignIn
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import CordonHTTPClient

/// No request goes past the check of a server's key by way of the client that checks none.
@Suite struct ClosedTransportTests {
    private func request(_ authority: String, scheme: String = "https") -> HTTPRequest {
        HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/")
    }

    private func refusal(_ clients: HTTPClients, _ request: HTTPRequest) -> TransportError.Code? {
        do throws(TransportError) {
            _ = try clients.client(for: request)
            return nil
        } catch { return error.code }
    }

    @Test func `once it shuts down, a transport has no client for any request`() async throws {
        let clients = try HTTPClients(ServerTrust { _, _ in false })
        let requests = [request("pinned.test"), request("pinned.test:8443"), request("pinned.test", scheme: "http")]
        #expect(requests.allSatisfy { refusal(clients, $0) == nil })
        await clients.shutdown()
        #expect(requests.allSatisfy { refusal(clients, $0) == .badRequest })
    }

    @Test func `a client that is shut down between a request and its sending is one that reached nothing`() async throws
    {
        let clients = try HTTPClients(ServerTrust { _, _ in true })
        let client = try clients.client(for: request("pinned.test"))
        let outgoing = try AsyncHTTPExchange.request(request("pinned.test"), body: nil)
        await clients.shutdown()
        let outcome = await AsyncHTTPExchange.catching {
            _ = try await client.execute(outgoing, deadline: .now() + .seconds(60))
        }
        guard case .failure(let error) = outcome else {
            Issue.record("A client that was shut down sent a request.")
            return
        }
        #expect(error.code == .unreachable)
    }

    @Test func `a request whose host cannot be told has no client where keys are checked`() async throws {
        let clients = try HTTPClients(ServerTrust { _, _ in true })
        for authority in ["", "[::1", "a b", "user@", ":443"] {
            #expect(refusal(clients, request(authority)) == .badRequest, "\(authority)")
        }
        #expect(refusal(clients, request("[::1]:443")) == nil)
        await clients.shutdown()
    }
}

import ArgumentParser
import CordonAppTools
import CordonSignIn
import Foundation
import HTTPTypes
import Testing

@testable import CordonCommand

/// SI-149: `cordon profile lint --hosts` over a network of the test's own.
struct AssociationCheckTests {
    /// Hosts that answer what they are given, and others that are not there.
    private struct Hosts: HTTPTransport {
        let files: [String: (status: Int, body: String)]

        func send(
            _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
        ) async throws(TransportError) -> HTTPAnswer {
            guard request.path == "/.well-known/apple-app-site-association", request.scheme == "https",
                let file = files[request.authority ?? ""]
            else { throw TransportError(.unreachable, reason: "the host is not there") }
            return HTTPAnswer(head: HTTPResponse(status: .init(code: file.status)), body: Data(file.body.utf8))
        }

        func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
            throw TransportError(.unreachable, reason: "nothing streams here")
        }
    }

    @Test func `the hosts of a profile are asked, and every one that does not let the extension answer is named`()
        async throws
    {
        var request = ConfigurationProfile.SignOn(identifier: "org.example.sign-on")
        request.extensionIdentifier = "org.example.broker.sso"
        request.urls = ["good", "other", "moved", "gone"].map { "https://\($0).example.org" }
        let profile = try ConfigurationProfile(request, names: .cordon).value
        let hosts = Hosts(files: [
            "good.example.org": (200, #"{"authsrv": {"apps": ["TEAM.org.example.broker"]}}"#),
            "other.example.org": (200, #"{"authsrv": {"apps": ["TEAM.org.other"]}}"#),
            "moved.example.org": (302, ""),
        ])
        let findings = await AssociationCheck(transport: hosts).findings(profile, path: "p")
        let named = findings.map { String($0.message.prefix { $0 != ":" }) }
        #expect(named == ["other.example.org", "moved.example.org", "gone.example.org"])
        #expect(findings.last?.message.contains("the host is not there") == true)
    }

    @Test func `the hosts are asked only where that is wanted`() throws {
        #expect(try ProfileLintCommand.parse(["x"]).hosts == false)
        #expect(try ProfileLintCommand.parse(["x", "--hosts"]).hosts)
    }
}

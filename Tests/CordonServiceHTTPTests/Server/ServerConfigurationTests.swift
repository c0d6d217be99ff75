import CordonIdentity
import CordonProtocol
import Foundation
import Testing

@testable import CordonServiceHTTP

/// What a server may not be started with.
@Suite struct ServerConfigurationTests {
    private func isAccepted(_ host: String, _ edit: (inout ServiceServerConfiguration) -> Void = { _ in }) -> Bool {
        var configuration = ServiceServerConfiguration(tenant: TenantID("contoso"))
        configuration.host = host
        edit(&configuration)
        do {
            try configuration.validate()
            return true
        } catch {
            return error.code != .configurationInvalid || error.place != "listen"
        }
    }

    @Test func `without TLS and proxy only this machine is served`() {
        for host in ["127.0.0.1", "::1", "localhost", "127.1.2.3"] { #expect(isAccepted(host), "\(host)") }
        for host in ["0.0.0.0", "::", "192.0.2.1", "mam.example.org", "127.0.0.1.example.org"] {
            #expect(!isAccepted(host), "\(host)")
            #expect(isAccepted(host) { $0.isBehindProxy = true })
            #expect(isAccepted(host) { $0.publicURL = URL(string: "https://mam.example.org") })
            #expect(!isAccepted(host) { $0.publicURL = URL(string: "http://127.0.0.1:8080") })
            #expect(
                isAccepted(host) {
                    $0.certificate = CertificateFiles(chain: URL(filePath: "/c"), privateKey: URL(filePath: "/k"))
                })
        }
    }
}

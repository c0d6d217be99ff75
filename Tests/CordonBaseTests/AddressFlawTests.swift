import CordonBase
import Foundation
import Testing

@Suite struct AddressFlawTests {
    @Test(arguments: [
        "https://mam.example", "HTTPS://mam.example:8443/a?b#c", "https://[2001:db8::1]/",
        "https://b\u{FC}cher.example/",
        "https://xn--bcher-kva.example/", "http://127.0.0.1:8080/", "http://127.255.0.9/", "http://localhost/",
        "http://[::1]:1/",
    ])
    func `a request may be sent to an encrypted address, or a plain one of this machine`(_ text: String) throws {
        #expect(AddressFlaw(of: try #require(URL(string: text))) == nil)
    }

    @Test(arguments: ["http://mam.example/", "http://128.0.0.1/", "http://localhost.example/", "ftp://mam.example/"])
    func `an address that is plain, and of another machine, is insecure`(_ text: String) throws {
        let url = try #require(URL(string: text))
        let flaw = try #require(AddressFlaw(of: url))
        #expect(flaw == .insecure && flaw.predicate.contains("https"))
    }

    @Test(arguments: [
        "/only/a/path", "//mam.example/", "https:///a", "mailto:a@mam.example", "https://ada:secret@mam.example/",
        "https://ada@mam.example/", "https://mam.example:0/", "https://mam.example:65536/",
        "https://mam.example/" + String(repeating: "a", count: AddressFlaw.longestAddress),
    ])
    func `an address that names no host, or says more than a host and its port, is malformed`(_ text: String) throws {
        let url = try #require(URL(string: text))
        let flaw = try #require(AddressFlaw(of: url))
        #expect(flaw == .malformed && !flaw.predicate.isEmpty)
    }

    @Test func `a host that a log would read as something else is malformed`() {
        var parts = URLComponents()
        parts.scheme = "https"
        for host in ["", "mam.example/a", "ada@mam.example", "mam\u{7F}.example", "mam .example"] {
            parts.host = host
            #expect(AddressFlaw(of: parts) == .malformed, "\(host)")
        }
    }

    @Test func `this machine is known by its names and addresses, and by no others`() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.255.0.9", "::1", "[::1]"] {
            #expect(Loopback.includes(host), "\(host)")
        }
        for host in ["", "localhost.example", "128.0.0.1", "127.0.0", "127.0.0.1.1", "127.0.0.256", "127.0.0.x", "::2"]
        {
            #expect(!Loopback.includes(host), "\(host)")
        }
        #expect(Loopback.host(ofAuthority: "[::1]:8443") == "[::1]")
        #expect(Loopback.host(ofAuthority: "mam.example:8443") == "mam.example")
    }
}

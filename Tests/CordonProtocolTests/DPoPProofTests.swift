import CordonProtocol
import Foundation
import Testing

@Suite struct DPoPProofTests {
    private let key = SoftwareSigningKey()
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let url = URL(string: "https://cordon.example/mam/v1/x?q=1")

    private func proof(_ url: URL, method: String = "POST", token: String? = "t", issued: Date? = nil) throws -> String
    {
        try DPoPProof.make(method: method, url: url, accessToken: token, issued: issued ?? now, signer: key)
    }

    @Test func `a proof for this request and token is accepted, and names its key`() throws {
        let url = try #require(url)
        let verified = try DPoPProof(
            verifying: try proof(url), method: "POST", url: url, accessToken: "t", now: now)
        #expect(verified.key.thumbprint == key.publicKey.thumbprint)
    }

    @Test(arguments: [
        ("GET", "https://cordon.example/mam/v1/x", "t"), ("POST", "https://cordon.example/mam/v1/y", "t"),
        ("POST", "https://other.example/mam/v1/x", "t"), ("POST", "http://cordon.example/mam/v1/x", "t"),
        ("POST", "https://cordon.example:8443/mam/v1/x", "t"), ("POST", "https://cordon.example/mam/v1/x", "u"),
    ])
    func `a proof for another method, URL or token is refused`(method: String, target: String, token: String) throws {
        let url = try #require(url)
        let text = try proof(url)
        #expect(throws: ProtocolError(.wrongRecipient, "")) {
            try DPoPProof(
                verifying: text, method: method, url: try #require(URL(string: target)), accessToken: token, now: now)
        }
    }

    @Test func `a proof without a token hash is refused where a token is sent, and the other way round`() throws {
        let url = try #require(url)
        let bare = try proof(url, token: nil)
        #expect(throws: ProtocolError(.wrongRecipient, "")) {
            try DPoPProof(verifying: bare, method: "POST", url: url, accessToken: "t", now: now)
        }
        let bound = try proof(url)
        #expect(throws: ProtocolError(.wrongRecipient, "")) {
            try DPoPProof(verifying: bound, method: "POST", url: url, accessToken: nil, now: now)
        }
    }

    @Test func `a proof names the body that it was made for, and none where it was made for none`() throws {
        let url = try #require(url)
        func named(_ body: Data?) throws -> String? {
            let text = try DPoPProof.make(method: "POST", url: url, body: body, issued: now, signer: key)
            return try DPoPProof(verifying: text, method: "POST", url: url, accessToken: nil, now: now).bodyDigest
        }
        #expect(try named(nil) == nil)
        // The SHA-256 of no bytes.
        #expect(try named(Data()) == "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU")
        #expect(try named(Data("{}".utf8)) == DPoPProof.bodyDigest(Data("{}".utf8)))
    }

    @Test(arguments: [-61.0, 61.0]) func `a proof too far from the clock is refused`(distance: TimeInterval) throws {
        let url = try #require(url)
        let text = try proof(url, issued: now + distance)
        #expect(throws: ProtocolError(.expired, "")) {
            try DPoPProof(verifying: text, method: "POST", url: url, accessToken: "t", now: now)
        }
    }

    @Test func `scheme, host and default port are compared as URLs, not as text`() throws {
        let made = try #require(URL(string: "HTTPS://Cordon.Example:443/mam/v1/x#f"))
        let url = try #require(url)
        _ = try DPoPProof(verifying: try proof(made), method: "POST", url: url, accessToken: "t", now: now)
    }
}

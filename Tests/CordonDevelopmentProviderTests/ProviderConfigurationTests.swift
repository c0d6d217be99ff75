import CordonProtocol
import Foundation
import Testing

@testable import CordonDevelopmentProvider

@Suite struct ProviderConfigurationTests {
    private func configuration(
        _ change: (inout IdentityProviderConfiguration) -> Void
    ) -> IdentityProviderConfiguration {
        var configuration = IdentityProviderConfiguration.development(
            checkIn: ProviderFixture.checkIn, admin: ProviderFixture.admin)
        change(&configuration)
        return configuration
    }

    private func isRefused(_ change: (inout IdentityProviderConfiguration) -> Void) -> Bool {
        do throws(ProgramError) {
            try configuration(change).validate()
            return false
        } catch {
            return error.code == .configurationInvalid
        }
    }

    @Test func `the development configuration is valid`() {
        #expect(!isRefused { _ in })
    }

    @Test(arguments: [
        "http://example.test/callback", "app:/callback", "javascript:alert(1)", "https://example.test/#x", "/callback",
        "https://user@example.test/callback", "https:///callback", "http://127.0.0.1:x/callback",
        "http://127.0.0.1.example.test/callback", "com.example.app:/ x",
    ])
    func `a redirect that must not be registered is refused`(uri: String) {
        #expect(isRefused { $0.clients[0].redirectURIs = [uri] })
    }

    @Test(arguments: [
        "https://example.test/callback", "com.example.fieldnotes:/callback", "http://127.0.0.1/callback",
        "http://[::1]:7777/callback", "http://localhost:7777/callback",
    ])
    func `a redirect of an app may be registered`(uri: String) {
        #expect(!isRefused { $0.clients[0].redirectURIs = [uri] })
    }

    @Test func `tokens that live longer than fifteen minutes are refused`() {
        #expect(isRefused { $0.lifetimes.accessToken = .seconds(901) })
        #expect(isRefused { $0.lifetimes.accessToken = .seconds(0) })
        #expect(!isRefused { $0.lifetimes.accessToken = .seconds(900) })
    }

    @Test func `names must be unique and known`() {
        #expect(isRefused { $0.clients.append($0.clients[0]) })
        #expect(isRefused { $0.resources.append(.checkIn(ProviderFixture.admin)) })
        #expect(isRefused { $0.clients[0].resources = ["urn:example:elsewhere"] })
        #expect(isRefused { $0.resources.append(.checkIn("relative")) })
        #expect(isRefused { $0.resources.append(.checkIn("https://example.test/#x")) })
        #expect(isRefused { $0.clients[0].grants.insert(.clientCredentials) })
    }

    @Test func `a client is read from a file that holds no secret`() throws {
        let text = try String(decoding: JSONEncoder().encode(ProviderFixture.nightly), as: UTF8.self)
        #expect(!text.contains(ProviderFixture.secret))
        let read = try JSONDecoder().decode(IdentityProviderClient.self, from: Data(text.utf8))
        #expect(read == ProviderFixture.nightly)
        #expect(read.hasSecret(ProviderFixture.secret) && !read.hasSecret("guessed"))
        let least = #"{"clientId": "app", "displayName": "App", "grants": ["refresh_token"], "resources": []}"#
        #expect(try !JSONDecoder().decode(IdentityProviderClient.self, from: Data(least.utf8)).isConfidential)
        let wrong = least.dropLast() + #", "secretSha256": "short"}"#
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(IdentityProviderClient.self, from: Data(wrong.utf8))
        }
    }

    @Test func `a full table gives up its oldest entries and an ended one is gone`() {
        let start = Date(timeIntervalSince1970: 0)
        var table = ProviderBoundedTable<Int, Int>(capacity: 10)
        for number in 0..<25 { table.insert(number, for: number, until: start + 100, at: start) }
        #expect(table.count <= 10)
        #expect(table.value(24, at: start) == 24)
        #expect(table.value(0, at: start) == nil)
        #expect(table.value(24, at: start + 100) == nil)
        while table.count < 10 { table.insert(0, for: 100 + table.count, until: start + 100, at: start) }
        let pushed = table.insertIfRoom(1, for: 99, until: start + 300, at: start)
        #expect(!pushed)
        let later = table.insertIfRoom(1, for: 99, until: start + 300, at: start + 200)
        #expect(later, "ended entries make room")
        #expect(table.count == 1)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%+1", "a=%ff", "%ff=1"])
    func `a malformed form is refused`(text: String) {
        #expect(throws: OAuthError.self) { try ProviderParameters(encoded: text) }
    }

    @Test func `a form is decoded as browsers encode it`() throws {
        let form = try ProviderParameters(encoded: "a=1+2%2B3&b=%C3%A9&c=&d&e=x=y&f=1&f=2")
        #expect(try form.value("a") == "1 2+3")
        #expect(try form.value("b") == "é")
        #expect(try form.value("c") == nil)
        #expect(try form.value("d") == nil)
        #expect(try form.value("e") == "x=y")
        #expect(form.all("f") == ["1", "2"])
        #expect(throws: OAuthError.self) { try form.value("f") }
        #expect(throws: OAuthError.self) {
            try ProviderParameters(encoded: String(repeating: "a=1&", count: 65))
        }
    }
}

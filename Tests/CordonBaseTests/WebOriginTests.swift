import CordonBase
import Testing

@Suite struct WebOriginTests {
    @Test(arguments: [
        ("https://A.example", "https://a.example:443/x"), ("http://a.example", "HTTP://a.example:80"),
        ("http://[::1]:8080", "http://[::1]:8080/x"), ("https://a.example/a@b", "https://a.example"),
        ("https://Mam.Example:443/mam", "https://mam.example"), ("http://[::1]:80", "http://[::1]"),
    ])
    func `two spellings of one origin are equal`(one: String, other: String) throws {
        let origin = try #require(WebOrigin(one))
        #expect(origin == WebOrigin(other))
    }

    @Test(arguments: [
        ("https://a.example", "http://a.example"), ("https://a.example", "https://a.example:8443"),
        ("https://a.example", "https://b.a.example"),
    ])
    func `another scheme, port or host is another origin`(one: String, other: String) throws {
        let origin = try #require(WebOrigin(one))
        #expect(origin != WebOrigin(other))
    }

    @Test(arguments: [
        "null", "", "/https://a.example", "a.example", "https://", "https://a@b.example", "ftp://a.example",
    ])
    func `what names no origin of the web is none`(text: String) {
        #expect(WebOrigin(text) == nil)
    }
}

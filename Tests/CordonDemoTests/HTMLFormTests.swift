import Testing

@testable import CordonDemo

@Suite struct HTMLFormTests {
    @Test func `the first form's address and fields are read, entities resolved`() throws {
        let page = """
            <body><form method="post" action="/idp/sign-in?a=1&amp;b=2">
            <input type="hidden" name="csrf" value="x&quot;y"><input name="username" value="seen">
            <input type="hidden" name="empty"></form><form action="/other"><input type="hidden" name="z" value="1"></form>
            """
        let form = try #require(HTMLForm(in: page))
        #expect(form.action == "/idp/sign-in?a=1&b=2")
        #expect(form.fields == ["csrf": "x\"y", "username": "seen", "empty": ""])
    }

    @Test func `a page without a form has none`() {
        #expect(HTMLForm(in: "<p>signed in</p>") == nil)
    }
}

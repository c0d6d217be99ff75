import CordonPages
import Testing

@testable import CordonConsole

@Suite struct PageLibraryTests {
    @Test func `a quote that carries a combining mark is escaped all the same`() throws {
        let library = try PageLibrary(["a": #"<a title="{{x}}">{{#y}}{{.}}{{/y}}</a>"#])
        let page = library.render("a", PageModel(["x": "\"\u{301} onfocus=x", "y": ["<\u{338}script>", "`'&"]]))
        #expect(page == "<a title=\"&quot;\u{301} onfocus=x\">&lt;\u{338}script&gt;&#96;&#39;&amp;</a>")
    }

    @Test func `what a model does not have is not taken from what surrounds it`() throws {
        let library = try PageLibrary(["a": "{{#rows}}[{{#x}}{{.}}{{/x}}|{{csrf}}]{{/rows}}"])
        let page = library.render(
            "a", PageModel(["x": "outer", "csrf": "t", "rows": [PageModel([:]), PageModel(["x": "inner"])]]))
        #expect(page == "[|t][inner|t]")
    }

    @Test func `a template may include itself, and stays escaped`() throws {
        let library = try PageLibrary(["a": "{{#all}}({{text}}{{> a}}){{/all}}"])
        let inner = PageModel(["text": "<b>", "all": [PageModel(["text": "&"])]])
        #expect(library.render("a", PageModel(["all": [inner]])) == "(&lt;b&gt;(&amp;))")
    }

    @Test func `what is put between markup is escaped, other markup and what a condition asks for are not`() throws {
        let (hostile, link): (String, HTML) = ("\"\u{301}<script>`'&", "<a href=\"/\(1)\">\("<i>")</a>")
        let html: HTML =
            "<p title=\"\(hostile)\">\(hostile)\(link)\([link, link])\("<b>", if: true)\("<u>", if: false)</p>"
        let shown = "&quot;\u{301}&lt;script&gt;&#96;&#39;&amp;"
        let anchor = "<a href=\"/1\">&lt;i&gt;</a>"
        #expect(html.text == "<p title=\"\(shown)\">\(shown)\(anchor)\(anchor)\(anchor)<b></p>")
        let library = try PageLibrary(["a": "{{#x}}{{{.}}}{{/x}}|{{{y}}}|{{y}}|{{#z}}none{{/z}}"])
        let page = library.render("a", PageModel(["x": html, "y": link, "z": HTML()]))
        #expect(page == "\(html.text)|\(anchor)|\(HTMLText.escape(anchor))|")
    }

    @Test func `a page of a list that is empty still says where the next one is`() {
        let table = Table("Wipes", ["App"], [], empty: "none", more: Link("More", "/console/wipes?after=w"))
        let html = table.html(Rendering(language: .english, csrf: "t")).text
        #expect(html.contains("<p class=\"empty\">none</p>"))
        #expect(html.contains("<a href=\"/console/wipes?after=w\" rel=\"next\">More</a>"))
    }
}

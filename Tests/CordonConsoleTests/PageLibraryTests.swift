import CordonPages
import Testing

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
}

import CordonPages
import Foundation

/// A page of the console: what it is called and what stands on it.
struct Page {
    var title: Phrase
    var area: ConsoleArea
    /// What the page is for, in a sentence.
    var lead: Phrase = ""
    var blocks: [Block]
    /// Whether what the page shows changes by itself, so that the browser asks for it again.
    var isLive = false
    /// Where the page stands below its area.
    var above: Link?

    init(
        _ title: Phrase, _ area: ConsoleArea, lead: Phrase = "", isLive: Bool = false, above: Link? = nil,
        _ blocks: [Block]
    ) {
        self.title = title
        self.area = area
        self.lead = lead
        self.isLive = isLive
        self.above = above
        self.blocks = blocks
    }
}

/// A link.
struct Link {
    var text: Phrase
    var href: String
    /// Whether it leads to what the page is about.
    var isMain = false

    init(_ text: Phrase, _ href: String, isMain: Bool = false) {
        self.text = text
        self.href = href
        self.isMain = isMain
    }

    func html(_ page: Rendering) -> HTML {
        "<a href=\"\(href)\"\(" class=\"main\"", if: isMain)>\(page.say(text))</a>"
    }
}

/// How grave something is; the word stands in the style sheet.
enum Tone: String {
    case plain, good, notice, bad
}

/// A part of a page.
enum Block {
    case text(Phrase)
    case note(Tone, Phrase, [Phrase])
    case facts([(Phrase, Cell)])
    case table(Table)
    case form(Form)
    case links([Link])
    /// Pages of one subject beside each other, of which this is one.
    case tabs(Phrase, [Link], current: String)
    case chart(Chart)
    /// A box with a heading.
    case card(Phrase, [Block])
    /// What is shown on demand.
    case more(Phrase, [Block])
    /// Text that keeps its lines.
    case code(Phrase, label: Phrase)
    case tiles([Tile])

    func html(_ page: Rendering) -> HTML {
        switch self {
        case .text(let text): page.say(text).isEmpty ? "" : "<p>\(page.say(text))</p>\n"
        case .note(let tone, let text, let items):
            """
            <div class="note \(tone.rawValue)" role="\(tone == .bad ? "alert" : "status")"><p>\(page.say(text))</p>\
            \(items.map { page.paragraph("item", $0) })</div>

            """
        case .facts(let facts):
            "<dl>\(facts.map { "<dt>\(page.say($0.0))</dt><dd>\($0.1.html(page))</dd>" })</dl>\n"
        case .table(let table): table.html(page)
        case .form(let form): form.html(page)
        case .links(let links): "<p class=\"links\">\(links.map { "\($0.html(page)) " })</p>\n"
        case .tabs(let name, let links, let current): Self.tabs(name, links, current, page)
        case .chart(let chart): chart.html(page)
        case .card(let title, let blocks):
            "<section class=\"card\"><h2>\(page.say(title))</h2>\(blocks.map { $0.html(page) })</section>\n"
        case .more(let title, let blocks):
            "<details><summary>\(page.say(title))</summary>\(blocks.map { $0.html(page) })</details>\n"
        case .code(let text, let label):
            "<pre tabindex=\"0\" aria-label=\"\(page.say(label))\">\(page.say(text))</pre>\n"
        case .tiles(let tiles): "<ul class=\"tiles\">\(tiles.map { $0.html(page) })</ul>\n"
        }
    }
}

extension Block {
    private static func tabs(_ name: Phrase, _ links: [Link], _ current: String, _ page: Rendering) -> HTML {
        let items = links.map { link -> HTML in
            let state: HTML = "\(" aria-current=\"page\"", if: link.href == current)"
            return "<li><a href=\"\(link.href)\"\(state)>\(page.say(link.text))</a></li>"
        }
        return "<nav class=\"tabs\" aria-label=\"\(page.say(name))\"><ul>\(items)</ul></nav>\n"
    }
}

/// A number that leads somewhere.
struct Tile {
    var number: String
    var text: Phrase
    var tone = Tone.plain
    var href: String

    func html(_ page: Rendering) -> HTML {
        """
        <li class="\(tone.rawValue)"><a href="\(href)"><strong>\(number)</strong> <span>\(page.say(text))</span></a></li>
        """
    }
}

/// Rows below headings.
struct Table {
    var caption: Phrase
    var columns: [Phrase]
    var rows: [[Cell]]
    /// What to do where there are none.
    var empty: Phrase
    var more: Link?

    init(_ caption: Phrase, _ columns: [Phrase], _ rows: [[Cell]], empty: Phrase, more: Link? = nil) {
        self.caption = caption
        self.columns = columns
        self.rows = rows
        self.empty = empty
        self.more = more
    }

    func html(_ page: Rendering) -> HTML {
        let caption = page.say(caption)
        // A page may be empty though there are others: what is looked for may be far back.
        let next = more.map {
            ["<p class=\"links\"><a href=\"\($0.href)\" rel=\"next\">\(page.say($0.text))</a></p>" as HTML]
        }
        guard !rows.isEmpty else {
            return "<p class=\"caption\">\(caption)</p>\(page.paragraph("empty", empty))\(next ?? [])\n"
        }
        let columns = columns.map { HTML("\(page.say($0))") }
        return """
            <div class="scroll" role="region" aria-label="\(caption)" tabindex="0"><table><caption>\(caption)</caption>
            <thead><tr>\(columns.map { "<th scope=\"col\">\($0)</th>" })</tr></thead>
            <tbody>\(rows.map { "<tr>\(zip(columns, $0).map { Self.cell($0, $1, page) })</tr>" })</tbody></table></div>
            \(next ?? [])

            """
    }

    private static func cell(_ column: HTML, _ cell: Cell, _ page: Rendering) -> HTML {
        "<td data-column=\"\(column)\">\(cell.html(page))</td>"
    }
}

/// What stands in a row.
indirect enum Cell {
    case text(Phrase)
    case link(Phrase, String)
    case badge(Phrase, Tone)
    case time(Date?)
    case code(String)
    case list([Cell])
    /// A button that asks for something at once.
    case button(Phrase, action: String, fields: [(String, String)] = [])

    func html(_ page: Rendering) -> HTML {
        func say(_ phrase: Phrase) -> String {
            let text = page.say(phrase)
            return text.isEmpty ? "–" : text
        }
        return switch self {
        case .text(let text): "\(say(text))"
        case .link(let text, let href): "<a href=\"\(href)\">\(say(text))</a>"
        case .badge(let text, let tone): "<span class=\"badge \(tone.rawValue)\">\(say(text))</span>"
        case .time(let date):
            date.map { date in
                let exact = date.formatted(.iso8601)
                return "<time datetime=\"\(exact)\">\(Moment.words(exact))</time>"
            } ?? "\(say("never"))"
        case .code(let text): "<code>\(text.isEmpty ? "–" : VisibleText.of(text))</code>"
        case .list(let cells): HTML(cells.map { "<span class=\"one\">\($0.html(page))</span> " })
        case .button(let text, let action, let fields):
            """
            <form method="post" action="\(action)">\(page.token)\(fields.map { page.hidden($0.0, $0.1) })\
            <button>\(say(text))</button></form>
            """
        }
    }
}

/// Times as people read them, with their zone.
enum Moment {
    static func text(_ date: Date) -> String { words(date.formatted(.iso8601)) }

    fileprivate static func words(_ exact: String) -> String {
        exact.prefix(10) + " " + exact.dropFirst(11).prefix(5) + " UTC"
    }

    /// The time that a document of the service says.
    static func read(_ text: String?) -> Date? {
        // Most texts are not times, which is expensive to find out by parsing.
        guard let text, text.utf8.dropFirst(10).first == UInt8(ascii: "T") else { return nil }
        return (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}

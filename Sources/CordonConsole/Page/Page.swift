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

    func model(in language: ConsoleLanguage) -> PageModel {
        PageModel(["text": text.text(in: language), "href": href, "main": isMain])
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
    case chart(Chart)
    /// A box with a heading.
    case card(Phrase, [Block])
    /// What is shown on demand.
    case more(Phrase, [Block])
    /// Text that keeps its lines.
    case code(Phrase, label: Phrase)
    case tiles([Tile])

    func model(in language: ConsoleLanguage) -> PageModel {
        func say(_ phrase: Phrase) -> String { phrase.text(in: language) }
        return switch self {
        case .text(let text): PageModel(["text": say(text)])
        case .note(let tone, let text, let items):
            PageModel([
                "note": PageModel([
                    "tone": tone.rawValue, "text": say(text), "role": tone == .bad ? "alert" : "status",
                    "items": items.isEmpty ? nil : items.map(say),
                ])
            ])
        case .facts(let facts):
            PageModel([
                "facts": PageModel([
                    "rows": facts.map { PageModel(["name": say($0.0), "cell": $0.1.model(in: language)]) }
                ])
            ])
        case .table(let table): PageModel(["table": table.model(in: language)])
        case .form(let form): PageModel(["form": form.model(in: language)])
        case .links(let links): PageModel(["links": PageModel(["all": links.map { $0.model(in: language) }])])
        case .chart(let chart): PageModel(["chart": chart.model(in: language)])
        case .card(let title, let blocks):
            PageModel(["card": PageModel(["title": say(title), "blocks": blocks.map { $0.model(in: language) }])])
        case .more(let title, let blocks):
            PageModel(["more": PageModel(["title": say(title), "blocks": blocks.map { $0.model(in: language) }])])
        case .code(let text, let label): PageModel(["code": PageModel(["text": say(text), "label": say(label)])])
        case .tiles(let tiles): PageModel(["tiles": PageModel(["all": tiles.map { $0.model(in: language) }])])
        }
    }
}

/// A number that leads somewhere.
struct Tile {
    var number: String
    var text: Phrase
    var tone = Tone.plain
    var href: String

    func model(in language: ConsoleLanguage) -> PageModel {
        PageModel(["number": number, "text": text.text(in: language), "tone": tone.rawValue, "href": href])
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

    func model(in language: ConsoleLanguage) -> PageModel {
        let caption = caption.text(in: language)
        guard !rows.isEmpty else { return PageModel(["caption": caption, "empty": empty.text(in: language)]) }
        let columns = columns.map { $0.text(in: language) }
        return PageModel([
            "caption": caption, "filled": true, "columns": columns,
            "rows": rows.map { row in
                PageModel([
                    "cells": zip(columns, row).map { PageModel(["column": $0, "cell": $1.model(in: language)]) }
                ])
            }, "more": more?.model(in: language),
        ])
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

    func model(in language: ConsoleLanguage) -> PageModel {
        func say(_ phrase: Phrase) -> String {
            let text = phrase.text(in: language)
            return text.isEmpty ? "–" : text
        }
        return switch self {
        case .text(let text): PageModel(["text": say(text)])
        case .link(let text, let href): PageModel(["link": PageModel(["text": say(text), "href": href])])
        case .badge(let text, let tone): PageModel(["badge": PageModel(["text": say(text), "tone": tone.rawValue])])
        case .time(let date):
            date.map { date in
                PageModel(["time": PageModel(["iso": date.formatted(.iso8601), "text": Moment.text(date)])])
            } ?? PageModel(["text": say("never")])
        case .code(let text): PageModel(["code": text.isEmpty ? "–" : text])
        case .list(let cells):
            PageModel(["list": PageModel(["all": cells.map { PageModel(["cell": $0.model(in: language)]) }])])
        case .button(let text, let action, let fields):
            PageModel([
                "button": PageModel([
                    "text": say(text), "action": action,
                    "hidden": fields.map { PageModel(["name": $0.0, "value": $0.1]) },
                ])
            ])
        }
    }
}

/// Times as people read them, with their zone.
enum Moment {
    static func text(_ date: Date) -> String {
        let text = date.formatted(.iso8601)
        return text.prefix(10) + " " + text.dropFirst(11).prefix(5) + " UTC"
    }

    /// The time that a document of the service says.
    static func read(_ text: String?) -> Date? {
        guard let text else { return nil }
        return (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}

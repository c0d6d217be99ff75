import CordonPages
import Foundation

/// A page of the console: what it is called and what stands on it.
struct Page {
    var title: String
    var area: ConsoleArea
    /// What the page is for, in a sentence.
    var lead = ""
    var blocks: [Block]
    /// Whether what the page shows changes by itself, so that the browser asks for it again.
    var isLive = false
    /// Where the page stands below its area.
    var above: Link?

    init(
        _ title: String, _ area: ConsoleArea, lead: String = "", isLive: Bool = false, above: Link? = nil,
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
    var text: String
    var href: String
    /// Whether it leads to what the page is about.
    var isMain = false

    init(_ text: String, _ href: String, isMain: Bool = false) {
        self.text = text
        self.href = href
        self.isMain = isMain
    }

    var model: PageModel { PageModel(["text": text, "href": href, "main": isMain]) }
}

/// How grave something is; the word stands in the style sheet.
enum Tone: String {
    case plain, good, notice, bad
}

/// A part of a page.
enum Block {
    case text(String)
    case note(Tone, String, [String])
    case facts([(String, Cell)])
    case table(Table)
    case form(Form)
    case links([Link])
    case chart(Chart)
    /// A box with a heading.
    case card(String, [Block])
    /// What is shown on demand.
    case more(String, [Block])
    /// Text that stays as it was written.
    case code(String, label: String)
    case tiles([Tile])

    var model: PageModel {
        switch self {
        case .text(let text): PageModel(["text": text])
        case .note(let tone, let text, let items):
            PageModel([
                "note": PageModel([
                    "tone": tone.rawValue, "text": text, "role": tone == .bad ? "alert" : "status",
                    "items": items.isEmpty ? nil : items,
                ])
            ])
        case .facts(let facts):
            PageModel(["facts": PageModel(["rows": facts.map { PageModel(["name": $0.0, "cell": $0.1.model]) }])])
        case .table(let table): PageModel(["table": table.model])
        case .form(let form): PageModel(["form": form.model])
        case .links(let links): PageModel(["links": PageModel(["all": links.map(\.model)])])
        case .chart(let chart): PageModel(["chart": chart.model])
        case .card(let title, let blocks):
            PageModel(["card": PageModel(["title": title, "blocks": blocks.map(\.model)])])
        case .more(let title, let blocks):
            PageModel(["more": PageModel(["title": title, "blocks": blocks.map(\.model)])])
        case .code(let text, let label): PageModel(["code": PageModel(["text": text, "label": label])])
        case .tiles(let tiles): PageModel(["tiles": PageModel(["all": tiles.map(\.model)])])
        }
    }
}

/// A number that leads somewhere.
struct Tile {
    var number: String
    var text: String
    var tone = Tone.plain
    var href: String

    var model: PageModel {
        PageModel(["number": number, "text": text, "tone": tone.rawValue, "href": href])
    }
}

/// Rows below headings.
struct Table {
    var caption: String
    var columns: [String]
    var rows: [[Cell]]
    /// What to do where there are none.
    var empty: String
    var more: Link?

    init(_ caption: String, _ columns: [String], _ rows: [[Cell]], empty: String, more: Link? = nil) {
        self.caption = caption
        self.columns = columns
        self.rows = rows
        self.empty = empty
        self.more = more
    }

    var model: PageModel {
        guard !rows.isEmpty else { return PageModel(["caption": caption, "empty": empty]) }
        return PageModel([
            "caption": caption, "filled": true, "columns": columns,
            "rows": rows.map { row in
                PageModel([
                    "cells": zip(columns, row).map { PageModel(["column": $0, "cell": $1.model]) }
                ])
            }, "more": more?.model,
        ])
    }
}

/// What stands in a row.
indirect enum Cell {
    case text(String)
    case link(String, String)
    case badge(String, Tone)
    case time(Date?)
    case code(String)
    case list([Cell])
    /// A button that asks for something at once.
    case button(String, action: String, fields: [(String, String)] = [])

    var model: PageModel {
        switch self {
        case .text(let text): PageModel(["text": text.isEmpty ? "–" : text])
        case .link(let text, let href): PageModel(["link": Link(text.isEmpty ? "–" : text, href).model])
        case .badge(let text, let tone): PageModel(["badge": PageModel(["text": text, "tone": tone.rawValue])])
        case .time(let date):
            date.map { date in
                PageModel(["time": PageModel(["iso": date.formatted(.iso8601), "text": Moment.text(date)])])
            } ?? PageModel(["text": "never"])
        case .code(let text): PageModel(["code": text.isEmpty ? "–" : text])
        case .list(let cells): PageModel(["list": PageModel(["all": cells.map { PageModel(["cell": $0.model]) }])])
        case .button(let text, let action, let fields):
            PageModel([
                "button": PageModel([
                    "text": text, "action": action,
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

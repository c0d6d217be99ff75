import Mustache

/// Pages from templates in which every value is escaped, scalar by scalar.
///
/// A template writes `{{name}}` for text of any origin. `{{{name}}}` is for what a template has rendered already.
package struct PageLibrary: Sendable {
    private let library: MustacheLibrary

    /// - Parameter templates: The templates by their names; one may include another as `{{> name}}`.
    /// - Throws: An error of the template engine, for a template that cannot be read.
    package init(_ templates: [String: String]) throws {
        MustacheContentTypes.register(ScalarEscaping(), named: ScalarEscaping.name)
        var library = MustacheLibrary()
        for (name, text) in templates {
            try library.register("{{% CONTENT_TYPE: \(ScalarEscaping.name)}}" + text, named: name)
        }
        self.library = library
    }

    /// A page; empty where no template has the name.
    package func render(_ template: String, _ model: Any) -> String {
        library.render(model, withTemplate: template) ?? ""
    }
}

/// HTML escaping scalar by scalar. Mustache escapes whole characters, and a quote that carries a combining mark is another
/// character but still a quote to a browser.
struct ScalarEscaping: MustacheContentType {
    static let name = "CORDON_HTML"

    func escapeText(_ text: String) -> String { HTMLText.escape(text) }
}

/// Text in HTML.
package enum HTMLText {
    /// The text as HTML shows it, also between quotes.
    package static func escape(_ text: String) -> String {
        var escaped = ""
        append(text, to: &escaped)
        return escaped
    }

    /// Adds a text as HTML shows it, also between quotes.
    package static func append(_ text: String, to html: inout String) {
        // Most texts have nothing to escape, and all that is escaped is ASCII, so that bytes tell.
        guard text.utf8.contains(where: { named($0) != nil }) else { return html += text }
        html.reserveCapacity(html.utf8.count + text.utf8.count + 32)
        for scalar in text.unicodeScalars {
            if scalar.isASCII, let name = named(UInt8(scalar.value)) {
                html += name
            } else {
                html.unicodeScalars.append(scalar)
            }
        }
    }

    /// What HTML writes for a byte that would be markup.
    @inline(__always)
    private static func named(_ byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        case UInt8(ascii: "`"): "&#96;"
        default: nil
        }
    }
}

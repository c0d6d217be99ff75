internal import Mustache

/// HTML as it goes into a page: what stands in the program's literals is markup, and every text between is escaped.
///
///     let row: HTML = "<td title=\"\(name)\">\(link)</td>"
///
/// Only the markup of another value of this type goes in as it is. A template takes one as `{{{name}}}`.
package struct HTML: Sendable, Equatable, ExpressibleByStringInterpolation {
    package private(set) var text: String

    package init() { text = "" }

    /// What the program itself wrote. For text of any other origin there is interpolation.
    package init(stringLiteral markup: StaticString) { text = markup.description }

    package init(stringInterpolation written: StringInterpolation) { text = written.text }

    package init(_ parts: some Sequence<HTML>) {
        text = ""
        for part in parts { text += part.text }
    }

    package static func += (html: inout HTML, more: HTML) { html.text += more.text }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        package mutating func appendLiteral(_ markup: StaticString) { text += markup.description }

        package mutating func appendInterpolation(_ value: String) { HTMLText.append(value, to: &text) }

        package mutating func appendInterpolation(_ number: Int) { text += String(number) }

        package mutating func appendInterpolation(_ html: HTML) { text += html.text }

        package mutating func appendInterpolation(_ parts: some Sequence<HTML>) {
            for part in parts { text += part.text }
        }

        /// Adds what is only there under a condition.
        package mutating func appendInterpolation(_ html: @autoclosure () -> HTML, if holds: Bool) {
            if holds { text += html().text }
        }
    }
}

extension HTML: MustacheCustomRenderable {
    package var renderText: String { text }
    package var isNull: Bool { text.isEmpty }
}

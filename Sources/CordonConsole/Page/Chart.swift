import CordonPages

/// Bars as wide as the page allows, each below its name and number.
struct Chart {
    struct Bar {
        var name: Phrase
        var value: Int
        var tone = Tone.plain
    }

    var title: Phrase
    var bars: [Bar]

    /// The height of a name with its bar.
    private static let row = 40

    func html(_ page: Rendering) -> HTML {
        guard !bars.isEmpty else {
            return """
                <figure><figcaption>\(page.say(title))</figcaption>
                \(page.paragraph("empty", "There is nothing to draw yet."))</figure>

                """
        }
        let most = max(1, bars.map(\.value).max() ?? 1)
        let words = bars.map { "\(page.say($0.name)): \($0.value)" }
        let drawn = bars.enumerated().map { index, bar -> HTML in
            // In per cent of the width.
            let length = max(bar.value > 0 ? 0.5 : 0, 100 * Double(bar.value) / Double(most))
            return """
                <text x="0" y="\(index * Self.row + 16)">\(words[index])</text>\
                <rect class="\(bar.tone.rawValue)" x="0" y="\(index * Self.row + 22)" width="\(String(length))%" height="8" rx="2">\
                </rect>
                """
        }
        return """
            <figure><figcaption>\(page.say(title))</figcaption>
            <svg width="100%" height="\(bars.count * Self.row)" role="img" aria-label="\(words.joined(separator: ", "))">\
            \(drawn)</svg></figure>

            """
    }
}

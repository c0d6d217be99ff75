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

    func model(in language: ConsoleLanguage) -> PageModel {
        let most = max(1, bars.map(\.value).max() ?? 1)
        let words = bars.map { "\($0.name.text(in: language)): \($0.value)" }
        return PageModel([
            "title": title.text(in: language), "height": String(bars.count * Self.row),
            "words": words.joined(separator: ", "), "drawn": !bars.isEmpty,
            "bars": bars.enumerated().map { index, bar in
                // In per cent of the width.
                let length = max(bar.value > 0 ? 0.5 : 0, 100 * Double(bar.value) / Double(most))
                return PageModel([
                    "label": words[index], "tone": bar.tone.rawValue, "text": String(index * Self.row + 16),
                    "y": String(index * Self.row + 22), "length": String(length),
                ])
            },
            "empty": bars.isEmpty ? Phrase("There is nothing to draw yet.").text(in: language) : nil,
        ])
    }
}

import CordonPages

/// Bars with their numbers beside them; the drawing repeats what the table under it says.
struct Chart {
    struct Bar {
        var name: Phrase
        var value: Int
        var tone = Tone.plain
    }

    var title: Phrase
    var bars: [Bar]

    private static let (width, row, left) = (600, 26, 190)

    func model(in language: ConsoleLanguage) -> PageModel {
        let names = bars.map { $0.name.text(in: language) }
        let most = max(1, bars.map(\.value).max() ?? 1)
        let room = Self.width - Self.left - 60
        return PageModel([
            "title": title.text(in: language), "width": String(Self.width), "height": String(bars.count * Self.row + 4),
            "words": zip(names, bars).map { "\($0): \($1.value)" }.joined(separator: ", "), "drawn": !bars.isEmpty,
            "bars": bars.enumerated().map { index, bar in
                let length = max(bar.value > 0 ? 2 : 0, Int(Double(room) * Double(bar.value) / Double(most)))
                return PageModel([
                    "name": Self.short(names[index]), "value": String(bar.value), "tone": bar.tone.rawValue,
                    "left": String(Self.left - 8), "start": String(Self.left), "y": String(index * Self.row + 4),
                    "text": String(index * Self.row + 18), "length": String(length),
                    "end": String(Self.left + length + 6),
                ])
            },
            "empty": bars.isEmpty ? Phrase("There is nothing to draw yet.").text(in: language) : nil,
        ])
    }

    private static func short(_ name: String) -> String { name.count > 26 ? name.prefix(25) + "…" : name }
}

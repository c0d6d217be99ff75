/// The differences of two texts as `diff -u` and `patch` write and read them (TL-CF-03).
public struct UnifiedDiff: Sendable, CustomStringConvertible {
    private static let context = 3

    private enum Line: Equatable {
        case same(Substring)
        case removed(Substring)
        case added(Substring)

        var text: String {
            let (mark, line) =
                switch self {
                case .same(let line): (" ", line)
                case .removed(let line): ("-", line)
                case .added(let line): ("+", line)
                }
            return mark + line
                + (line.last.map(UnifiedDiff.isLineEnd) == true ? "" : "\n\\ No newline at end of file\n")
        }

        var isOld: Bool { if case .added = self { false } else { true } }
        var isNew: Bool { if case .removed = self { false } else { true } }
        var isSame: Bool { isOld && isNew }
    }

    private let name: String
    private let lines: [Line]

    /// Compares two texts line by line; the name stands in the head of the result.
    public init(old: String, new: String, name: String) {
        self.name = name
        let before = Self.lines(old)
        let after = Self.lines(new)
        let difference = after.difference(from: before)
        var gone: Set<Int> = []
        var come: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): gone.insert(offset)
            case .insert(let offset, _, _): come.insert(offset)
            }
        }
        var lines: [Line] = []
        var position = 0
        for (index, line) in before.enumerated() {
            if gone.contains(index) {
                lines.append(.removed(line))
                continue
            }
            while come.contains(position) {
                lines.append(.added(after[position]))
                position += 1
            }
            lines.append(.same(line))
            position += 1
        }
        while position < after.count {
            lines.append(.added(after[position]))
            position += 1
        }
        self.lines = lines
    }

    /// Whether the texts are equal.
    public var isEmpty: Bool { lines.allSatisfy(\.isSame) }

    /// The head and all hunks with three lines around each change; empty for equal texts.
    public var description: String {
        guard !isEmpty else { return "" }
        return "--- \(name)\n+++ \(name)\n" + hunks.map(text).joined()
    }

    /// Ranges of lines with their surroundings, joined where they touch.
    private var hunks: [Range<Int>] {
        var hunks: [Range<Int>] = []
        for index in lines.indices where !lines[index].isSame {
            let start = max(0, index - Self.context)
            let end = min(lines.count, index + Self.context + 1)
            if let last = hunks.last, last.upperBound >= start {
                hunks[hunks.count - 1] = last.lowerBound..<end
            } else {
                hunks.append(start..<end)
            }
        }
        return hunks
    }

    private func text(_ hunk: Range<Int>) -> String {
        func place(_ isCounted: (Line) -> Bool) -> String {
            let before = lines[..<hunk.lowerBound].count(where: isCounted)
            let count = lines[hunk].count(where: isCounted)
            return "\(count == 0 ? before : before + 1),\(count)"
        }
        return "@@ -\(place(\.isOld)) +\(place(\.isNew)) @@\n" + lines[hunk].map(\.text).joined()
    }

    private static func isLineEnd(_ character: Character) -> Bool { character == "\n" || character == "\r\n" }

    /// The lines of a text with their ends.
    private static func lines(_ text: String) -> [Substring] {
        var lines: [Substring] = []
        var rest = text[...]
        while let end = rest.firstIndex(where: isLineEnd) {
            lines.append(rest[...end])
            rest = rest[rest.index(after: end)...]
        }
        if !rest.isEmpty { lines.append(rest) }
        return lines
    }
}

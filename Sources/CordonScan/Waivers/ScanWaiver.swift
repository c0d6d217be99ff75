internal import CordonBase
internal import Foundation

/// A way out that people decided to leave, with their reason.
///
/// In source it is a comment, behind the code or on a line above it: `// cordon:allow pasteboard — copies the app's own version number`.
/// In a file of waivers it is a line: `pasteboard Sources/About.swift until 2027-03-01 — copies the app's own version number`.
package struct ScanWaiver: Sendable, Hashable {
    /// The ways that it is for.
    package var ways: Set<String> = []
    /// The file it is for: relative to the folder, and a folder's name with `/` at its end for everything in it.
    package var path: String
    /// The lines that it is for; nil for the whole file.
    package var lines: ClosedRange<Int>?
    /// The last day on which it holds, `YYYY-MM-DD`.
    package var until: String?
    package var reason = ""
    /// Where it stands itself.
    package var line: Int
    package var column: Int
    package var file: String
    /// What is wrong with it, if anything; it waives nothing then.
    package var flaw: String?

    /// Reads a comment; nil for one that says nothing to the scan.
    init?(comment: String, path: String, _ place: (line: Int, column: Int)) {
        guard let call = comment.range(of: "cordon:") else { return nil }
        self.path = path
        (line, column, file) = (place.line, place.column, path)
        var rest = comment[call.upperBound...]
        if let end = rest.range(of: "*/") ?? rest.range(of: "-->") { rest = rest[..<end.lowerBound] }
        let text = rest.split(whereSeparator: \.isNewline).map {
            $0.trimmingCharacters(in: .whitespaces.union(["*", "/"]))
        }.joined(separator: " ")
        guard text.hasPrefix("allow") else {
            guard text.first?.isLetter == true else { return nil }
            flaw = "\"cordon:\(text.prefix { $0.isLetter })\" is not known; a waiver is \"cordon:allow WAY — reason\""
            return
        }
        read(String(text.dropFirst("allow".count)), isPathFirst: false)
    }

    /// Reads a line of a file of waivers; nil for an empty one and a remark.
    init?(line text: String, number: Int, file: String) {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty, !text.hasPrefix("#") else { return nil }
        path = ""
        (line, column, self.file) = (number, 1, file)
        read(text, isPathFirst: true)
    }

    private mutating func read(_ text: String, isPathFirst: Bool) {
        let dashes = [" — ", " – ", " -- ", " - "].compactMap { text.range(of: $0) }
        let dash = dashes.min { $0.lowerBound < $1.lowerBound } ?? (isPathFirst ? nil : text.range(of: ":"))
        reason = dash.map { text[$0.upperBound...].trimmingCharacters(in: .whitespaces) } ?? ""
        let head = text[..<(dash?.lowerBound ?? text.endIndex)]
        var words = head.split { $0 == " " || $0 == "," || $0 == "\t" }.map(String.init)
        if let index = words.firstIndex(of: "until") {
            guard index + 1 < words.count, Self.isDay(words[index + 1]) else {
                flaw = "\"until\" needs a day as YYYY-MM-DD"
                return
            }
            until = words[index + 1]
            words.removeSubrange(index...index + 1)
        }
        if isPathFirst {
            guard words.count >= 2 else {
                flaw = "a line is \"WAY PATH [until YYYY-MM-DD] — reason\""
                return
            }
            // A path may hold blanks: what follows the way is the path.
            ways = [words[0]]
            path = words.dropFirst().joined(separator: " ")
        } else {
            ways = Set(words)
        }
        if let unknown = ways.sorted().first(where: { WayOut(rawValue: $0) == nil }) {
            flaw = "there is no way out \"\(unknown)\"; \(Self.suggestion(for: unknown))"
        } else if ways.isEmpty {
            flaw = "it names no way out"
        } else if reason.count < 4 {
            flaw = "it gives no reason; write \"cordon:allow \(ways.sorted().joined(separator: ", ")) — why\""
        }
    }

    private static func isDay(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.count) == [4, 2, 2] && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } }
    }

    private static func suggestion(for name: String) -> String {
        let known = WayOut.allCases.map(\.rawValue)
        let near = known.min { distance($0, name) < distance($1, name) }
        return near.map { distance($0, name) <= 2 ? "\"\($0)\" is one" : "cordon scan --ways lists them" } ?? ""
    }

    private static func distance(_ left: String, _ right: String) -> Int {
        EditDistance.between(Array(left.prefix(40)), Array(right.prefix(40)))
    }

    /// Whether it is for a finding.
    func covers(_ finding: ScanFinding) -> Bool {
        guard flaw == nil, ways.contains(finding.way) else { return false }
        guard path == finding.path || path.hasSuffix("/") && finding.path.hasPrefix(path) else { return false }
        return lines?.contains(finding.line) ?? true
    }

    /// Whether it does not hold any more.
    func isOver(on today: String) -> Bool { until.map { $0 < today } ?? false }
}

import Foundation
import Testing

/// The article "Put Cordon into an app" shows the program that is compiled, and nothing else.
@Suite struct GuideTests {
    private func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent().appending(
            path: "../../.."
        ).standardized
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `every piece of the compiled program stands in the article`() throws {
        let article = try text("Sources/Cordon/Cordon.docc/PutCordonIntoAnApp.md")
        let program = try text("Snippets/PutCordonIntoAnApp.swift")
        var pieces: [String] = []
        for part in program.components(separatedBy: "// snippet.").dropFirst() where !part.hasPrefix("end") {
            let lines = part.components(separatedBy: "\n")
            pieces.append(lines.dropFirst().joined(separator: "\n").trimmingCharacters(in: .newlines))
        }
        #expect(pieces.count == 7)
        for piece in pieces { #expect(article.contains("```swift\n\(piece)\n```"), "\(piece.prefix(60))") }
    }
}

import Foundation

/// One file of a scan: read twice, once for what it tells the others and once for its ways out.
struct SourceFile {
    enum Language {
        case swift
        case objectiveC
        case markup
    }

    /// The endings of files in C and what has it in it.
    static let endingsOfC: Set<String> = ["m", "mm", "h", "c", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "pch"]

    let path: String
    let language: Language
    let text: SourceText

    init(path: String, data: Data) {
        self.path = path
        language =
            switch (path as NSString).pathExtension.lowercased() {
            case "swift": .swift
            case let ending where Self.endingsOfC.contains(ending): .objectiveC
            default: .markup
            }
        text = SourceText(data)
    }

    /// The tokens, with previews marked as code that does not ship.
    func code() -> CodeReader {
        var reader = CodeReader(language == .swift ? SwiftLexer.read(text) : ObjectiveCLexer.read(text))
        if language == .swift { Self.markPreviews(&reader) }
        return reader
    }

    private static func markPreviews(_ reader: inout CodeReader) {
        let preview = Word.hash("Preview")
        let provider = Word.hash("PreviewProvider")
        for index in 0..<reader.count {
            let here = reader.hash(index)
            guard
                here == preview && reader.hash(index - 1) == Mark.sharp
                    || here == provider && reader.hash(index - 1) == Mark.colon
            else {
                continue
            }
            guard let brace = reader.find([Mark.openBrace], from: index + 1), brace - index < 40,
                reader.partner(brace) > brace
            else { continue }
            reader.markDebug(index...max(index, reader.partner(brace)))
        }
    }

    private static let testing = WayCatalogue.hashes(
        "XCTest", "Testing", "XCTestCase", "SnapshotTesting", "Nimble", "Quick")

    /// Whether a file belongs to tests, which are not installed.
    func isTest(_ reader: CodeReader) -> Bool {
        let importWord = Word.hash("import")
        if language == .swift {
            for index in 0..<reader.count
            // A file that ships may help tests in debug builds.
            where reader.hash(index) == importWord && Self.testing.contains(reader.hash(index + 1))
                && !reader.tokens[index].isDebug
            { return true }
            return false
        }
        // Directives leave no tokens, so the first lines are read as text.
        let head = text.text(0..<min(text.count, 8_192))
        return ["<XCTest/XCTest.h>", "@import XCTest", "gtest/gtest.h", "catch2/catch"].contains { head.contains($0) }
    }

    /// What the file tells the others.
    func collect(_ reader: CodeReader, into facts: inout ProjectFacts) {
        let declarations = Declarations(reader)
        var collector = FactCollector(reader, .standard, declarations)
        collector.collect(into: &facts)
        // What debug builds alone have is neither asked nor called in those that ship.
        for declaration in declarations.all
        where declaration.kind != .extension && !reader.tokens[declaration.nameToken].isDebug {
            facts.declareFunction(declaration.name)
        }
    }

    /// Whether a file asks Cordon, or calls a function of the project that does.
    static func mayAsk(_ reader: CodeReader, _ facts: ProjectFacts) -> Bool {
        (0..<reader.count).contains { index in
            let here = reader.hash(index)
            return GuardWords.throwing[here] != nil || GuardWords.deciding[here] != nil
                || GuardWords.truths[here] != nil
                || facts.asking[here] != nil
        }
    }
}

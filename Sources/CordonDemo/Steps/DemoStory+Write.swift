internal import CordonPolicy
internal import Foundation

extension DemoStory {
    /// How many notes share the planted texts.
    static let noteCount = 20

    func write(_ step: inout DemoStep) async throws(DemoError) {
        let app = try running()
        let perNote = scan.markers.count / Self.noteCount
        try await app.ask("use \(account)")
        let began = ContinuousClock.now
        var written = 0
        for number in 0..<Self.noteCount {
            let text = text(of: number, perNote)
            if try await app.ask("note note-\(number) \(text)").members["ok"]?.bool == true { written += 1 }
        }
        step.facts["notes"] = .integer(Int64(written))
        step.facts["millisecondsPerNote"] = .measured(
            (ContinuousClock.now - began).milliseconds / Double(Self.noteCount))
        step.expect("every note was written", written, is: Self.noteCount)
        let shown = try await app.ask("show note-7")
        step.expect("a note reads back as it was written", shown["text"] == text(of: 7, perNote), seen: "note-7")

        try await app.ask("use personal")
        try await app.ask("note groceries milk, bread and a birthday card")
        personalFiles = try files(below: stage.home(of: "worker").appending(path: "personal-notes"))
        step.expect("the personal note is an ordinary file", personalFiles.count, is: 1)
        try await app.ask("use \(account)")
    }

    private func text(of number: Int, _ perNote: Int) -> String {
        scan.markers[number * perNote..<(number + 1) * perNote].joined(separator: " ")
    }

    /// Files with their contents.
    func files(below folder: URL) throws(DemoError) -> [String: Data] {
        var contents: [String: Data] = [:]
        for path in try MarkerScan.files(below: folder.path) {
            contents[path] = FileManager.default.contents(atPath: path)
        }
        return contents
    }
}

internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension DemoStory {
    func enroll(_ step: inout DemoStep) async throws(ProgramError) {
        let app = try await stage.managedApp("worker")
        notes = app
        let worker = try stage.worker()
        let answer = try await stage.signIn(worker, in: app)
        account = answer["account"] ?? ""
        step.facts["account"] = .string(worker.name)
        step.expect("the account is enrolled with new rules (status 100)", answer.members["status"]?.integer, is: 100)
        let managed = try await app.ask("status")
        let policies = managed.members["policies"]?.array?.compactMap(\.string) ?? []
        step.expect(
            "the rules in force are the published ones", policies.contains { $0.hasPrefix(policyID) },
            seen: policies.joined(separator: ", "))
        try await app.ask("use personal")
        let personal = try await app.ask("status")
        step.expect("the personal account has no rules", personal.members["managed"]?.bool, is: false)
    }
}

extension DemoStory {
    /// How many notes share the planted texts.
    static let noteCount = 20

    func write(_ step: inout DemoStep) async throws(ProgramError) {
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
    func files(below folder: URL) throws(ProgramError) -> [String: Data] {
        var contents: [String: Data] = [:]
        for path in try MarkerScan.files(below: folder.path) {
            contents[path] = FileManager.default.contents(atPath: path)
        }
        return contents
    }
}

extension DemoStory {
    func readRawBytes(_ step: inout DemoStep) async throws(ProgramError) {
        let planted = scan.markers.count
        let sealed = try scan.scan(stage.home(of: "worker").path)
        step.facts["filesRead"] = .integer(Int64(sealed.files))
        step.facts["bytesRead"] = .integer(Int64(sealed.bytes))
        step.facts["markersPlanted"] = .integer(Int64(planted))
        step.expect("none of the planted texts is readable", sealed.markers, is: 0)

        // The control: the same scanner on the same texts in the clear.
        let control = cast.folder.appending(path: "control")
        do {
            try FileManager.default.createDirectory(at: control, withIntermediateDirectories: true)
            try Data(scan.markers.joined(separator: " ").utf8).write(to: control.appending(path: "plain.txt"))
        } catch { throw ProgramError.stage("the control file cannot be written") }
        let plain = try scan.scan(control.path)
        step.expect("the scanner finds all of them in an unsealed copy", plain.markers, is: planted)
    }
}

internal import CordonLeakScan
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
        let perNote = scan.texts.count / Self.noteCount
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
        scan.texts[number * perNote..<(number + 1) * perNote].joined(separator: " ")
    }

    /// What of the planted texts stands below a folder.
    func leaks(below folder: URL) throws(ProgramError) -> Leaks {
        do { return try scan.leaks(below: folder) } catch {
            throw ProgramError.stage("\(folder.path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// What of some texts stands in the memory of a process.
    func leaks(of texts: [String], inProcess id: Int32) throws(ProgramError) -> Leaks {
        guard let scan = LeakScan(texts: texts) else { throw ProgramError.stage("a planted text is too short") }
        do { return try scan.leaks(inProcess: id) } catch {
            throw ProgramError.stage(
                "the memory of process \(id) cannot be read",
                hint: "Allow a parent to trace its children (kernel.yama.ptrace_scope 0 or 1).")
        }
    }

    /// Files with their contents.
    func files(below folder: URL) throws(ProgramError) -> [String: Data] {
        var contents: [String: Data] = [:]
        do {
            for path in try LeakScan.files(below: folder.path) {
                contents[path] = FileManager.default.contents(atPath: path)
            }
        } catch { throw ProgramError.stage("\(folder.path) cannot be listed: \(error.localizedDescription)") }
        return contents
    }
}

extension DemoStory {
    func readRawBytes(_ step: inout DemoStep) async throws(ProgramError) {
        let planted = scan.texts.count
        let sealed = try leaks(below: stage.home(of: "worker"))
        step.facts["filesRead"] = .integer(Int64(sealed.files))
        step.facts["bytesRead"] = .integer(Int64(sealed.bytes))
        step.facts["markersPlanted"] = .integer(Int64(planted))
        step.expect("none of the planted texts is readable", sealed.texts, is: 0)

        // The control: the same scanner on the same texts in the clear.
        let control = cast.folder.appending(path: "control")
        do {
            try FileManager.default.createDirectory(at: control, withIntermediateDirectories: true)
            try Data(scan.texts.joined(separator: " ").utf8).write(to: control.appending(path: "plain.txt"))
        } catch { throw ProgramError.stage("the control file cannot be written") }
        let plain = try leaks(below: control)
        step.expect("the scanner finds all of them in an unsealed copy", plain.texts, is: planted)
    }
}

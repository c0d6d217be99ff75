internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension DemoStory {
    func audit(_ step: inout DemoStep) async throws(ProgramError) {
        let service = try await stage.runningService()
        let log = try await stage.administrator().auditLog()
        let export = cast.folder.appending(path: "audit.jsonl")
        let (status, report) = try await verify(log, at: export, pin: service.rootKey)
        step.facts["records"] = report["records"] ?? .null
        step.facts["receipts"] = report["receipts"] ?? .null
        step.expect("`cordon audit verify` accepts the export", status, is: 0)
        step.expect("with the wipe's receipt, signed by the device", report["receipts"]?.integer, is: 1)

        // The control: one character of one record, as an insider would change it.
        let edited = Data(String(decoding: log, as: UTF8.self).replacing("Field staff", with: "Field Staff").utf8)
        let changed =
            edited == log ? Data(log.dropFirst(log.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)) : edited
        let (refusal, _) = try await verify(changed, at: export, pin: service.rootKey)
        step.expect("and refuses it after an insider's edit", refusal, is: 1)
    }

    private func verify(
        _ log: Data, at export: URL, pin: String
    ) async throws(ProgramError) -> (status: Int32, report: [String: JSONValue]) {
        do { try log.write(to: export) } catch { throw ProgramError.stage("the export cannot be written") }
        let process = try ChildProcess(cast.cordon, ["audit", "verify", export.path, "--root-key", pin, "--json"])
        var text = ""
        for await line in process.lines { text += line + "\n" }
        let status = await process.wait()
        let report = (try? JSONValue(parsing: Data(text.utf8)))?.object ?? [:]
        return (status, report)
    }
}

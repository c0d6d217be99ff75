import ArgumentParser
import CordonService
import Foundation

/// `cordon policy pull`: the service's policies, app configurations and filters as files.
struct PolicyPullCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull", abstract: "Write the service's policies, app configurations and filters into a folder.",
        discussion: """
            A file keeps its name for as long as it holds the same id. Secret values become digests; write \
            {"fromEnvironment": "NAME"} or {"fromFile": "PATH"} in the place of one to keep it elsewhere. A file that was edited since the last pull \
            is not written over: the exit status is 4 and nothing is written.

            Example:
              cordon policy pull policies --service https://mam.example.org
            """)

    @OptionGroup var options: ServiceOptions

    @Argument(help: "The folder.")
    var folder: String

    @Flag(help: "Write over files that were edited here.")
    var overwrite = false

    /// What was done.
    struct Report: Encodable {
        var written: [String] = []
        var removed: [String] = []
        var unchanged = 0
        /// Files that were edited here and would have been written over.
        var edited: [String] = []
    }

    func run() async throws {
        let report = try await options.withClient { client in
            var folder = try PolicyFolder(folder)
            try folder.claim(for: client.address)
            return try Self.pull(try await client.documents(), into: &folder, overwriting: overwrite)
        }
        if options.json {
            try Terminal.json(report)
        } else {
            for path in report.written { Terminal.data("\(Style.green("written"))  \(path)") }
            for path in report.removed { Terminal.data("\(Style.red("removed"))  \(path)") }
            for path in report.edited { Terminal.data("\(Style.yellow("edited"))   \(path)") }
            Terminal.talk("\(report.unchanged) unchanged")
        }
        guard report.edited.isEmpty else {
            throw CommandFailure(
                .refused, "files were edited here and on the service; nothing was written",
                hint: "Commit them and pull with --overwrite, or apply them first.")
        }
    }

    /// Writes documents into a folder; nothing where a file would be lost.
    static func pull(
        _ documents: [PresentDocument], into folder: inout PolicyFolder, overwriting: Bool
    ) throws -> Report {
        var report = Report()
        var wanted: [(file: PolicyFile, document: PresentDocument)] = []
        var taken: Set<String> = []
        for document in documents {
            let path = folder.path(of: document, besides: taken)
            taken.insert(path)
            var file = PolicyFile(document, at: path)
            if let known = folder.files[path] {
                file = file.keepingReferences(of: known, unless: folder.entry(path)?.secrets ?? [:])
            }
            wanted.append((file, document))
        }
        func isEdited(_ path: String) -> Bool {
            guard let digest = folder.digests[path] else { return false }
            return folder.entry(path)?.file != digest
        }
        // What was edited here alone stays.
        wanted.removeAll { file, document in
            let isAsBefore = folder.entry(file.path)?.document == PolicyFile(document, at: file.path).digest
            guard !overwriting, isAsBefore, isEdited(file.path) else { return false }
            report.unchanged += 1
            return true
        }
        for (file, _) in wanted where folder.files[file.path].map({ $0 != file }) ?? false && isEdited(file.path) {
            report.edited.append(file.path)
        }
        let gone = (folder.lock?.entries.keys.sorted() ?? []).filter { !taken.contains($0) }
        report.edited += gone.filter(isEdited)
        guard overwriting || report.edited.isEmpty else { return report }
        report.edited = []
        for (file, document) in wanted {
            if folder.files[file.path] == file { report.unchanged += 1 } else { report.written.append(file.path) }
            try folder.write(file, as: document)
        }
        for path in gone {
            if folder.files[path] != nil { report.removed.append(path) }
            try folder.remove(path)
        }
        try folder.writeLock()
        return report
    }
}

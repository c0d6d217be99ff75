import ArgumentParser
import Foundation

/// `cordon serve approve`: releases a change that waits, for a user who may write the service's folder.
struct ServeApproveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Release a change that waits for a second person.",
        discussion: """
            For a service with one administrator, on its own machine and as the user that it runs as. The service takes it up \
            within half a minute, or at its next start, and writes it into the audit log.

            Example:
              cordon serve approve --config /etc/cordon/service.json hXb0kQ2mTt6y3mJ1rGZr5A
            """)

    @OptionGroup var options: ServeOptions

    @Argument(help: "The id of the change, as the refusal and GET /admin/v1/changes name it.")
    var id: String

    func run() throws {
        let plan = try options.plan()
        guard ApprovalFolder.isID(id) else {
            throw CommandFailure(
                .badInput, "this is not the id of a change", hint: "take it from GET /admin/v1/changes")
        }
        guard FileManager.default.fileExists(atPath: plan.folder.path) else {
            throw CommandFailure(
                .badInput, "\(plan.folder.path): there is no service", hint: "name its folder with --data-directory")
        }
        let store: URL? = if case .sqlite(let file) = plan.database { file } else { nil }
        try ServiceUser.require(for: plan.folder, store: store)
        try ApprovalFolder.approve(id, in: plan.folder)
        Terminal.talk(
            "approved: if \(id) waits, the service releases it within half a minute; its log says how that ended")
    }
}

/// The changes that were approved on the machine, as files in a folder of the service's own.
enum ApprovalFolder {
    private static let name = "approvals"

    /// Whether a text may be the id of a change, and so the name of a file.
    static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Asks the service to release a change.
    ///
    /// - Throws: ``CommandFailure`` with status `writeFailed`.
    static func approve(_ id: String, in folder: URL) throws(CommandFailure) {
        try PrivateFolder(folder.appending(path: name)).write(id + "\n", to: id)
    }

    /// The changes that wait to be released.
    static func approved(in folder: URL) -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: name).path)
        return (files ?? []).filter(isID).sorted()
    }

    /// Forgets one.
    static func remove(_ id: String, in folder: URL) {
        guard isID(id) else { return }
        try? FileManager.default.removeItem(at: folder.appending(path: name).appending(path: id))
    }
}

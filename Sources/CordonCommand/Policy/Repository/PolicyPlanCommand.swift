import ArgumentParser
import CordonBase
import CordonPolicy
import Foundation

/// `cordon policy plan`: what applying the files would do, for whom.
struct PolicyPlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show what the files of a folder would change on the service, and for whom.",
        discussion: """
            Writes the plan to cordon.plan.json, and nothing to the service; cordon policy apply carries out exactly that plan. It is \
            bound to the files and to the versions on the service. Exit status 0 when there is nothing to do, 1 when there is, and 4 \
            when the service was changed since the pull: then pull, or give --take-files.

            A renamed file stays the same policy; its id says which. If no file of a folder is left, or the service has something \
            with a new file's name that no file holds, the command plans nothing, removes an older plan and ends with status 4.

            Example:
              cordon policy plan policies --service https://mam.example.org
            """)

    @OptionGroup var options: PolicyFolderOptions

    @Flag(help: "Let files count also where the service was changed since the pull.")
    var takeFiles = false

    @Flag(help: "Remove also where no file of policies, configurations or filters is left.")
    var allowEmpty = false

    func run() async throws {
        guard FileManager.default.fileExists(atPath: options.folder) else {
            throw CommandFailure(
                .badInput, "\(options.folder): there is no such folder", hint: "Make one with cordon policy pull.")
        }
        let plan = try await options.service.withClient { client in
            try await PolicyPlan.renew(at: options.place) {
                let planner = PolicyPlanner(
                    folder: try options.folder(for: client.address), client: client,
                    documents: try await client.documents(), variables: ServiceOptions.environment)
                return try await planner.plan(takingFiles: takeFiles, allowingEmpty: allowEmpty)
            }
        }
        if options.service.json { try Terminal.json(plan) } else { PolicyPlanReport.print(plan) }
        guard !plan.isEmpty else { return Terminal.talk("nothing is to do") }
        let count = plan.steps.count == 1 ? "one change is to be made" : "\(plan.steps.count) changes are to be made"
        guard plan.drift.isEmpty else {
            throw CommandFailure(
                .refused, "the service was changed since the pull (\(plan.drift.count)); \(count)",
                hint: "Pull what was changed, or plan with --take-files.")
        }
        throw CommandFailure(
            .notInWantedState, count, hint: "cordon policy apply makes \(plan.steps.count == 1 ? "it" : "them").")
    }
}

extension PolicyPlan {
    private static let largest = 64 << 20

    /// Makes a plan in the place of an older one. That goes first: where none can be made, `apply` finds none.
    ///
    /// - Throws: ``CommandFailure`` with status `writeFailed` or `refused`, and what `making` throws.
    static func renew(at file: URL, _ making: () async throws -> PolicyPlan) async throws -> PolicyPlan {
        // A file that was named by mistake, a policy's perhaps, or a link to one: what cannot be read as a plan stays.
        let older: Data?
        do { older = try DurableFile.read(file, limit: largest) } catch {
            throw refusal(file, "this cannot be read as a plan (error \(error.number))")
        }
        if let older, !older.isEmpty, (try? JSONValue(parsing: older))?["steps"]?.array == nil {
            throw refusal(file, "this is not a plan")
        }
        do { try DurableFile.remove(file) } catch {
            throw CommandFailure(
                .writeFailed, "\(file.path): the older plan cannot be removed", hint: "Check its permissions.")
        }
        let plan = try await making()
        try plan.write(to: file)
        return plan
    }

    private static func refusal(_ file: URL, _ reason: String) -> CommandFailure {
        CommandFailure(
            .refused, "\(file.path): \(reason), and would be removed",
            hint: "Name another file with --plan.")
    }

    /// Writes the plan, whole or not at all.
    ///
    /// - Throws: ``CommandFailure`` with status `writeFailed`.
    func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        do { try DurableFile.replace(file, with: try encoder.encode(self) + Data("\n".utf8)) } catch {
            throw CommandFailure(
                .writeFailed, "\(file.path): the plan cannot be written", hint: "Check space and permissions.")
        }
    }

    /// Reads a plan.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`.
    init(reading file: URL) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let bytes = try? DurableFile.read(file, limit: Self.largest)
        guard let bytes = bytes ?? nil else {
            throw CommandFailure(.badInput, "\(file.path): there is no plan", hint: "Make one with cordon policy plan.")
        }
        guard let plan = try? decoder.decode(PolicyPlan.self, from: bytes), plan.format == Self.format else {
            throw CommandFailure(.badInput, "\(file.path): is not a plan of this version", hint: "Plan again.")
        }
        self = plan
    }
}

import ArgumentParser
import Foundation

/// `cordon policy apply`: makes exactly the changes of a plan.
struct PolicyApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply", abstract: "Make exactly the changes that cordon policy plan said.",
        discussion: """
            Changes nothing if a file, a version on the service or the number of people differs from the plan. Each change is a \
            transaction of its own; if the service refuses one, the command prints which were made and which are left, ends with \
            status 4, and notes it in the plan. It names a change that waits for a second person: once that is released, run the \
            same command again.

            Example:
              cordon policy apply policies --service https://mam.example.org --reason "Pilot for the warehouse"
            """)

    @OptionGroup var options: PolicyFolderOptions

    @Option(help: "Why, for versions and the audit log.")
    var reason: String?

    func run() async throws {
        let report = try await options.service.withClient(reason: reason) { client in
            var folder = try options.folder(for: client.address)
            let applier = PolicyApplier(
                client: client, place: options.place, variables: ServiceOptions.environment)
            return try await applier.apply(to: &folder)
        }
        if options.service.json {
            try Terminal.json(report)
        } else {
            for file in report.applied { Terminal.data("\(Style.green("applied"))  \(file)") }
            for file in report.left { Terminal.data("\(Style.yellow("left"))     \(file)") }
        }
        guard let stop = report.stopped else { return }
        guard let id = stop.waitingChange else {
            throw CommandFailure(.refused, "\(stop.file): \(stop.reason)", hint: "What is left stands above.")
        }
        throw CommandFailure(
            .refused, "\(stop.file): waits for a second person as change \(id)",
            hint:
                "Another administrator releases it (POST /admin/v1/changes/\(id)/release, the console, or cordon serve approve "
                + "\(id) on the service's machine); then apply again.")
    }
}

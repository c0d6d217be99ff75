import ArgumentParser
import Foundation

/// Where a service keeps its store and its keys, told as to `cordon serve`.
struct ServiceLocation: ParsableArguments {
    @Option(help: "The service's folder, as given to cordon serve.")
    var dataDirectory: String?

    @Option(help: "The service's database, as given to cordon serve.")
    var database: String?

    @Option(help: "The configuration file of the service.")
    var config: String?

    /// The store and the folder with the keys.
    ///
    /// - Throws: ``CommandFailure`` with status `usage` for a store that is not a file.
    func places() throws -> (store: URL, data: URL) {
        let plan = try plan()
        guard case .sqlite(let store) = plan.database else {
            throw CommandFailure(.usage, "a store in memory cannot be copied", hint: "Use --database sqlite:PATH.")
        }
        return (store, plan.folder)
    }

    /// The settings of the service as far as they are told here.
    func plan() throws -> ServePlan {
        var arguments: [String] = []
        if let dataDirectory { arguments += ["--data-directory", dataDirectory] }
        if let database { arguments += ["--database", database] }
        if let config { arguments += ["--config", config] }
        return try ServeOptions.parse(arguments).plan()
    }
}

extension CommandFailure {
    /// Where a command looks for the store of a service, there is none.
    static func noStore(at file: URL) -> CommandFailure {
        CommandFailure(
            .badInput, "\(file.path): no store of a service is there",
            hint: "Name the service's folder with --data-directory or --config, as cordon serve has it.")
    }
}

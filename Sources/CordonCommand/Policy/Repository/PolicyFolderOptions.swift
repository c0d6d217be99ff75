import ArgumentParser
import Foundation

/// The options that `cordon policy plan` and `apply` share: the service, the folder and the plan between the two.
struct PolicyFolderOptions: ParsableArguments {
    @OptionGroup var service: ServiceOptions

    @Argument(help: "The folder.")
    var folder: String

    @Option(
        name: [.customLong("plan"), .customLong("out")],
        help: "The file of the plan; by default cordon.plan.json in the folder.")
    var plan: String?

    /// The folder, for the service at an address and no other.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput` or `refused`.
    func folder(for address: URL) throws -> PolicyFolder {
        var folder = try PolicyFolder(folder)
        try folder.claim(for: address)
        return folder
    }

    /// Where the plan is.
    var place: URL {
        plan.map { URL(filePath: $0) }
            ?? URL(filePath: folder, directoryHint: .isDirectory).appending(path: PolicyPlan.name)
    }
}

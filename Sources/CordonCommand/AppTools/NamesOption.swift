import ArgumentParser
import CordonAppTools

/// The `--names` option that several tools share.
struct NamesOption: ParsableArguments {
    @Option(help: "Whose names to use: cordon or intune-compatible.")
    var names = NamingProfile.cordon.name

    /// The chosen profile.
    func profile() throws -> NamingProfile {
        guard let profile = NamingProfile.named(names) else {
            throw CommandFailure(.usage, "no naming profile is called \(names)", hint: "cordon or intune-compatible")
        }
        return profile
    }
}

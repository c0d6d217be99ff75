import ArgumentParser

/// `cordon broker`: the one owner of a shared device's account.
struct BrokerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker", abstract: "Run the broker of a shared device, and sign its rules.",
        subcommands: [BrokerRunCommand.self, BrokerPolicyCommand.self])
}

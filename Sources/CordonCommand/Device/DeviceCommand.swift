import ArgumentParser
import CordonIdentity
import CordonSignIn
import Foundation

/// `cordon device`: what an administrator and a worker do with a shared device, through its broker.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "Join a shared device, see who is on it, sign in and out.",
        subcommands: [
            DeviceStatusCommand.self, DeviceAccountCommand.self, DeviceSignInCommand.self, DeviceSignOutCommand.self,
            DeviceJoinCommand.self, DeviceLeaveCommand.self,
        ])
}

/// What every `cordon device` command needs.
struct DeviceOptions: ParsableArguments {
    @Option(help: "The broker's socket.")
    var socket: String

    @Option(help: "The client id by which the broker knows this command.")
    var clientID = "cordon-device"

    @Flag(help: "Trust a broker that runs as your own user; for development.")
    var development = false

    @Flag(help: "Print JSON, one value a line.")
    var json = false

    /// How long an administrator waits to hear what cannot work: the broker may have to read programs of up to 1 GiB for it.
    private static let patience: Duration = .seconds(120)

    /// This command's view of the device. It keeps no personal data, so its clean-up has nothing to do.
    func device() throws(CommandFailure) -> SharedDeviceMode {
        do {
            return try SharedDeviceMode(
                socket: socket, clientID: clientID, isDevelopment: development,
                deadline: { $0 == .deviceInfo ? Self.patience : $0.deadline }, cleanUp: { _ in })
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Asks the device.
    ///
    /// - Throws: ``CommandFailure`` with the status that fits.
    func asking<Value: Sendable>(
        _ body: (SharedDeviceMode) async throws(SignInError) -> Value
    ) async throws(CommandFailure) -> Value {
        let device = try device()
        do { return try await body(device) } catch { throw CommandFailure(error) }
    }

    /// Prints a value as JSON, or else the lines of a text, in which what came from outside was made safe.
    func print(_ value: some Encodable, _ text: String) throws {
        if json { try Terminal.json(value, pretty: false) } else { Terminal.data(lines: text) }
    }

    /// The person's own browser, on any machine: the page's address is printed.
    var browser: BrowserLauncher {
        let json = json
        return .opening { page in
            if json {
                try Terminal.json(event: ["event": "browser", "page": page.absoluteString])
            } else {
                Terminal.talk("Open this page in a browser on this device:")
                Terminal.talk("  \(TerminalText(page.absoluteString, limit: 8_192))")
            }
        }
    }
}

extension CommandFailure {
    /// What a person at the terminal reads of a broker's refusal.
    init(_ error: SignInError) {
        let status: ExitStatus =
            switch error.code {
            case .brokerRefused, .accountMismatch, .protectionRequired, .deviceNotJoined, .deviceNotShared: .refused
            case .configuration: .badInput
            case .storage: .writeFailed
            default: .notInWantedState
            }
        self.init(status, error.reason, hint: error.hint)
    }
}

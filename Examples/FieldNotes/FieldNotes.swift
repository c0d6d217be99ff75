import ArgumentParser
import Cordon
import CordonHTTPClient
import CordonIdentity
import CordonProtocol
import CordonTerminal
import Foundation

/// Field notes for work and for oneself: a small app in a terminal that shows how an app uses Cordon.
@main
struct FieldNotes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "FieldNotes",
        abstract: "Notes of several accounts; the organisation's are protected, your own are yours.",
        discussion: "Type `help` once it runs. The service and its root key are what `cordon serve` prints.",
        version: CordonRelease.version)

    @Option(help: "Where the app keeps everything.")
    var home = FileManager.default.homeDirectoryForCurrentUser.appending(path: ".fieldnotes").path

    @Option(help: "Where the app keeps the counters that tell its state from an older copy; apart from --home.")
    var counters: String?

    @Option(help: "The organisation's service, such as http://127.0.0.1:8080. Without one, only personal notes.")
    var service: String?

    // A thumbprint may begin with a dash. `--pin` is the former name, and could be taken for a person's PIN.
    @Option(
        name: [.customLong("root-key"), .customLong("pin")], parsing: .unconditional,
        help: "The root key's thumbprint that `cordon serve` prints as `rootKey`.")
    var rootKey: String?

    @Option(name: .customLong("ca"), help: "A PEM file of certificate authorities to trust beside the system's.")
    var authorities: String?

    @Option(help: "The socket of a shared device's broker; signing in and out is then the whole device's.")
    var broker: String?

    @Flag(help: "Trust a broker that runs as your own user; for development.")
    var development = false

    @Option(help: "The folder that stands for the system's clipboard.")
    var clipboard: String?

    @Option(help: "The folder that stands for the printer's paper tray.")
    var printer: String?

    @Option(help: "The app's bundle id.")
    var bundleID = "example.cordon.fieldnotes"

    @Option(help: "What administrators see this device called, such as \"Phone of the night shift\".")
    var deviceName: String?

    @Flag(help: "Answer every command with one JSON object on a line.")
    var json = false

    @Flag(help: "Hold one organisation's account at most.")
    var single = false

    // A computer has nothing that tells whether it is.
    @Flag(help: "Report the device as rooted, to see what the rules do about it.")
    var rooted = false

    @Flag(help: "Ask for PINs and show notices here, even where standard input is not a terminal.")
    var asks = false

    /// Whether a person is there to type a PIN.
    var hasSomebodyToAsk: Bool { asks || (!json && isatty(STDIN_FILENO) == 1) }

    @Flag(help: "Show each step of a wipe and wait for a line before taking it.")
    var step = false

    /// Where the app's numbers are: what tells an older copy of its home lies outside of it.
    var counterFolder: URL {
        if let counters { return URL(filePath: counters, directoryHint: .isDirectory) }
        let state = ProcessInfo.processInfo.environment["XDG_STATE_HOME"].map { URL(filePath: $0) }
        return (state ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/state"))
            .appending(path: "fieldnotes/counters")
    }

    /// The service to use and the root key that it must have; nil where no service was named.
    var trustedService: (address: URL, rootKey: String)? {
        guard let service, let rootKey, let address = URL(string: service), ["http", "https"].contains(address.scheme),
            address.host()?.isEmpty == false
        else { return nil }
        return (address, rootKey)
    }

    /// Refuses what could only fail later, when the person has typed a password already.
    func validate() throws {
        if let rootKey, !Self.isThumbprint(rootKey) {
            throw ValidationError(
                "'\(TerminalText(rootKey, limit: 80))' is not a root key's thumbprint. "
                    + "Give --root-key the 43 characters that `cordon serve` prints as `rootKey`.")
        }
        // The service would refuse it after the sign-in.
        if let deviceName, !TerminalText.isSafe(deviceName) {
            throw ValidationError(
                "--device-name has characters that do not show: \(TerminalText(deviceName, limit: 80)).")
        }
        guard let service else {
            if rootKey != nil || broker != nil {
                throw ValidationError("--root-key and --broker need --service as well.")
            }
            return
        }
        guard rootKey != nil else {
            throw ValidationError("--service needs --root-key: the `rootKey` that `cordon serve` prints.")
        }
        // What follows shows the address.
        guard !service.contains("@") else {
            throw ValidationError("--service has a name or a password in it. Give the service's address without them.")
        }
        if trustedService == nil {
            throw ValidationError(
                "'\(TerminalText(service, limit: 200))' is not the address of a service. "
                    + "Give --service an address such as https://cordon.contoso.example or http://127.0.0.1:8080.")
        }
    }

    /// Whether a text has the form of a SHA-256 thumbprint in base64url (RFC 7638).
    private static func isThumbprint(_ text: String) -> Bool {
        text.utf8.count == 43
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// What speaks to the service and the provider.
    private func transport() throws -> AsyncHTTPTransport {
        guard let authorities else { return AsyncHTTPTransport() }
        do {
            var trust = ServerTrust()
            try trust.add(authoritiesIn: URL(filePath: authorities))
            return try AsyncHTTPTransport(trust: trust)
        } catch { throw ValidationError("--ca: \(error.reason)") }
    }

    func run() async throws {
        let screen = Screen(json: json)
        let transport = try transport()
        do {
            let app = try await NotesApp(options: self, screen: screen, transport: transport)
            await app.run()
        } catch {
            await transport.shutdown()
            screen.fail(NotesApp.problem(error))
            throw ExitCode(3)
        }
        await transport.shutdown()
    }

    /// Runs the app. A wrong command line ends it with status 2, as it ends `cordon`.
    static func main() async {
        TerminalInterface.prepareStandardStreams()
        do {
            var command = try parseAsRoot()
            if let app = command as? FieldNotes { try await app.run() } else { try command.run() }
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            let message = TerminalText(fullMessage(for: error), as: .prose, limit: 4_000)
            Screen.write("\(message)\n", to: .standardError)
            Foundation.exit(2)
        }
    }
}

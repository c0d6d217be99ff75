import ArgumentParser
import CordonHTTPClient
import Foundation

/// Field notes for people who work for an organisation and have a life: a small app in a terminal that shows how an
/// app puts Cordon to use.
@main
struct FieldNotes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "FieldNotes",
        abstract: "Notes of several accounts; the organisation's are protected, your own are yours.",
        discussion: "Type `help` once it runs. The service and its pin are what `cordon serve` prints.")

    @Option(help: "Where the app keeps everything.")
    var home = FileManager.default.homeDirectoryForCurrentUser.appending(path: ".fieldnotes").path

    @Option(help: "The organisation's service, such as http://127.0.0.1:8080. Without one, only personal notes.")
    var service: String?

    // A thumbprint may begin with a dash.
    @Option(parsing: .unconditional, help: "The root key's thumbprint that `cordon serve` prints as `rootKey`.")
    var pin: String?

    @Option(help: "The socket of a shared device's broker; signing in and out is then the whole device's.")
    var broker: String?

    @Option(help: "The folder that stands for the system's clipboard.")
    var clipboard: String?

    @Option(help: "The folder that stands for the printer's paper tray.")
    var printer: String?

    @Option(help: "The app's bundle id.")
    var bundleID = "example.cordon.fieldnotes"

    @Flag(help: "Answer every command with one JSON object on a line.")
    var json = false

    @Flag(help: "Hold one organisation's account at most.")
    var single = false

    // A computer has nothing that tells whether it is.
    @Flag(help: "Say that the device is rooted, to see what the rules make of it.")
    var rooted = false

    @Flag(help: "Ask for PINs and show notices here; done anyway where a person types into a terminal.")
    var asks = false

    /// Whether somebody is there to type a PIN.
    var hasSomebodyToAsk: Bool { asks || (!json && isatty(STDIN_FILENO) == 1) }

    @Flag(help: "Show each step of a wipe and wait for a line before taking it.")
    var step = false

    func run() async throws {
        let screen = Screen(json: json)
        let transport = AsyncHTTPTransport()
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
}

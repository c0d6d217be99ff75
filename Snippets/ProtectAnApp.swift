// Cordon in an app: the program whose middle part the README shows. It signs a person in, keeps a report for their
// organisation, and prints it where the organisation allows that.
//
//     ProtectAnApp SERVICE ROOTKEY FOLDER

import Cordon
import CordonHTTPClient
import CordonTerminal
import Foundation

/// A printer whose paper is the terminal.
struct Paper: Printer {
    func print(_ document: Data, title: String) async throws {
        say("printed: \(title)")
    }
}

func protect(
    _ configuration: ProtectionConfiguration, _ account: ManagedAccount, _ report: Data, _ printer: some Printer,
    signInAgain: @escaping @Sendable (ManagedAccount) async -> SignInAnswer, show: (String) -> Void
) async throws {
    var configuration = configuration
    // snippet.show
    configuration.interface = TerminalInterface.standard { await signInAgain($0.account) }  // or screens of your own
    let protection = try await AppProtection(configuration)  // re-verifies what is stored; starts nothing else
    await protection.enroll(account)  // signed rules are in force from here on
    Task { await protection.stayInTouch(for: account.id) }  // hears of new rules and wipes at once

    let outcome = await protection.launch(account.id)  // notice, PIN, conditions: before anything is shown
    guard outcome.isOpen else { return show(outcome.reasons.first?.message ?? "You cancelled.") }

    try await protection.files.write(report, as: "report.txt", of: account.id)  // sealed under the account's key
    do {
        let permit = try protection.permit(for: Question(.print, owner: .managed(account.id)))
        try await protection.outlets.print(
            report, title: "Report", of: .managed(account.id), on: printer, permit: permit)
    } catch {
        show(error.denial?.summary ?? error.reason)  // what is refused, why, and what would be allowed
    }
    // snippet.hide
}

/// Shows one line at once, also to a program that reads it.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(TerminalText(line))\n".utf8))
}

/// Shows a page to the person at this machine.
func browser() -> BrowserLauncher {
    .opening { say("open: \($0.absoluteString)") }
}

func keepReport(_ service: URL, rootKey: String, home: URL, over transport: AsyncHTTPTransport) async throws {
    let discovery = try await AppProtection.discover(service, over: transport)
    let signIn = try SignInClient(
        configuration: SignInConfiguration(issuer: discovery.issuer.absoluteString, clientID: "fieldnotes"),
        transport: transport,
        cache: TokenCache(
            directory: home.appending(path: "tokens"),
            secrets: FileSecretStore(directory: home.appending(path: "secrets"))))
    var configuration = ProtectionConfiguration(
        application: ApplicationFacts(bundleID: "example.cordon.fieldnotes", version: "1.0"),
        device: DeviceDescription(osVersion: "1.0", model: "terminal"), service: service,
        rootKey: rootKey, dataDirectory: home.appending(path: "protected"),
        keyStore: FileKeyStore(directory: home.appending(path: "keys")), transport: transport, sessions: signIn)
    configuration.deviceFacts = { _ in
        var facts = DeviceFacts()
        facts.devicePINSet = true
        facts.rooted = false
        return facts
    }
    var request = SignInRequest(scopes: [discovery.scope], resource: discovery.resource)
    let account = try await signIn.signIn(request, browser: browser()).account.managed
    request.prompt = .login
    try await protect(
        configuration, account, Data("The plan.".utf8), Paper(),
        signInAgain: { [request] account in
            var again = request
            again.account = account.id
            do throws(SignInError) {
                return .signedIn(try await signIn.signIn(again, browser: browser()).account.id)
            } catch {
                return .unavailable(error.reason)
            }
        }, show: { say($0) })
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let service = URL(string: arguments[1]) else {
    say("ProtectAnApp SERVICE ROOTKEY FOLDER")
    exit(2)
}
let transport = AsyncHTTPTransport()
var status = EXIT_SUCCESS
do {
    try await keepReport(service, rootKey: arguments[2], home: URL(filePath: arguments[3]), over: transport)
} catch {
    say("✗ \(error)")
    status = EXIT_FAILURE
}
await transport.shutdown()
exit(status)

// The program of the article "Put Cordon into an app": a note under an organisation's rules, in a terminal.

// snippet.imports
import Cordon
import CordonHTTPClient
import CordonTerminal
import Foundation

// snippet.end

// snippet.configuration
func makeConfiguration(
    service: URL, rootKey: String, provider: String, transport: AsyncHTTPTransport
) throws -> (ProtectionConfiguration, SignInClient) {
    let home = URL(filePath: "notes-data", directoryHint: .isDirectory)
    let signIn = try SignInClient(
        configuration: SignInConfiguration(issuer: provider, clientID: "fieldnotes"), transport: transport,
        cache: TokenCache(
            directory: home.appending(path: "tokens"),
            secrets: FileSecretStore(directory: home.appending(path: "secrets"))))
    var configuration = ProtectionConfiguration(
        application: ApplicationFacts(bundleID: "example.notes", version: "1.0"),
        device: DeviceDescription(osVersion: "1.0", model: "terminal"), service: service,
        rootKey: rootKey, dataDirectory: home.appending(path: "protected"),
        keyStore: FileKeyStore(directory: home.appending(path: "keys")), transport: transport, sessions: signIn)
    configuration.interface = TerminalInterface.standard()  // everything that the gate asks goes through here
    configuration.deviceFacts = { _ in
        var facts = DeviceFacts()
        facts.devicePINSet = true
        facts.rooted = false  // say what your platform can tell; what stays nil is denied where a rule needs it
        return facts
    }
    return (configuration, signIn)
}
// snippet.end

// snippet.debug
func rulesWithoutService(_ configuration: inout ProtectionConfiguration) {
    configuration.settings.allowsDebugPolicies = true
    configuration.debugPolicies = DebugPolicies(
        account: "dev@example.test", settings: DeviceSettings(["PINEnabled": 1, "PrintingBlocked": 1]))
}
// snippet.end

// snippet.use
func keepANote(of account: AccountID, with protection: AppProtection) async throws {
    let outcome = await protection.launch(account)  // notice, PIN, conditions: before anything is shown
    guard outcome.isOpen else { return print("closed: \(outcome.reasons.first?.message ?? "you cancelled")") }
    let watch = Task { await protection.gate.watch(account) }  // closes it when time or device say so
    defer { watch.cancel() }

    try await protection.files.write(Data("The plan.".utf8), as: "plan.txt", of: account)  // sealed on disk
    let note = try await protection.files.read("plan.txt", of: account)
    print("kept: \(String(decoding: note, as: UTF8.self))")

    do throws(ProtectionError) {
        _ = try protection.permit(for: Question(.print, owner: .managed(account)))
    } catch {
        await protection.outlets.showPrintingBlocked(error, of: account)  // which rule, whose, and what would help
    }
}
// snippet.end

// snippet.enrol
func enrol(
    with signIn: SignInClient, discovery: ServiceDiscovery, protection: AppProtection
) async throws -> AccountID? {
    try await protection.service.verify()  // the service proves its root key before a password is typed
    var request = DeviceCodeRequest(scopes: [discovery.scope], resource: discovery.resource)
    request.requiresProofOfPossession = true  // check-in takes no other tokens
    let account = try await signIn.signIn(request) { prompt in
        print("Open \((prompt.completePage ?? prompt.page).absoluteString) and confirm \(prompt.userCode).")
    }.account.managed
    let status = await protection.enroll(account)  // signed rules are in force from here on
    print(status.explanation)
    return status == .newPolicies ? account.id : nil  // without rules, Cordon has nothing to protect
}
// snippet.end

// snippet.again
/// Has the person give the password again, which the gate asks for when a PIN is forgotten or was wrong too often.
func signInAgain(
    as account: ManagedAccount, with signIn: SignInClient, discovery: ServiceDiscovery
) async -> SignInAnswer {
    var request = SignInRequest(scopes: [discovery.scope], resource: discovery.resource)
    request.prompt = .login  // the password, also where the browser still knows the person
    request.maximumAuthenticationAge = .seconds(300)
    request.account = account.id  // no other account will do
    do throws(SignInError) {
        let result = try await signIn.signIn(request, browser: .opening { print("Open \($0.absoluteString).") })
        return .signedIn(result.account.id)
    } catch {
        return error.code == .cancelled ? .cancelled : .unavailable(error.reason)
    }
}
// snippet.end

// snippet.main
let transport = AsyncHTTPTransport()
let arguments = Array(CommandLine.arguments.dropFirst())
var status = EXIT_SUCCESS
do {
    if arguments.isEmpty, let nowhere = URL(string: "http://127.0.0.1:9") {
        var (configuration, _) = try makeConfiguration(
            service: nowhere, rootKey: "", provider: nowhere.absoluteString, transport: transport)
        rulesWithoutService(&configuration)
        try await keepANote(of: "dev@example.test", with: try await AppProtection(configuration))
    } else if arguments.count == 2, let service = URL(string: arguments[0]) {
        let discovery = try await AppProtection.discover(service, over: transport)
        var (configuration, signIn) = try makeConfiguration(
            service: service, rootKey: arguments[1], provider: discovery.issuer.absoluteString, transport: transport)
        configuration.interface = TerminalInterface.standard { [signIn] prompt in
            await signInAgain(as: prompt.account, with: signIn, discovery: discovery)
        }
        let protection = try await AppProtection(configuration)
        let known = protection.enrolledAccounts.first?.id
        let account: AccountID? =
            if let known { known } else {
                try await enrol(with: signIn, discovery: discovery, protection: protection)
            }
        if let account { try await keepANote(of: account, with: protection) }
    } else {
        print("usage: notes [SERVICE ROOTKEY]")
        status = 2
    }
} catch {
    print("✗ \(error)")  // the code, what was wrong and what to do
    status = EXIT_FAILURE
}
await transport.shutdown()
exit(status)
// snippet.end

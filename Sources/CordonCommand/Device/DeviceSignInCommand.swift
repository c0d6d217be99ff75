import ArgumentParser
import CordonIdentity
import CordonSignIn
import Foundation

/// `cordon device sign-in`: signs a person in for every app of the device.
struct DeviceSignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Sign in for every app of the device.",
        discussion: """
            With --json the first line has the page to open; the last one says who signed in, or why no one did.

            Example: cordon device sign-in --socket /run/cordon/broker.sock --code
            """)

    @OptionGroup var options: DeviceOptions

    @Option(help: "The resource to ask a token for.")
    var resource: String?

    @Option(help: "A scope of the resource; may repeat.")
    var scope: [String] = []

    @Option(help: "A user name to fill in.")
    var loginHint: String?

    @Flag(help: "Show a code to type into any browser, instead of opening one here.")
    var code = false

    func run() async throws {
        let (options, scopes, resource, hint) = (options, scope, resource, loginHint)
        let result: SharedSignIn
        if code {
            result = try await options.asking { device async throws(SignInError) in
                try await device.signIn(DeviceCodeRequest(scopes: scopes, resource: resource)) { prompt in
                    Self.show(prompt, json: options.json)
                }
            }
        } else {
            result = try await options.asking { device async throws(SignInError) in
                var request = SignInRequest(scopes: scopes, resource: resource)
                request.loginHint = hint
                return try await device.signIn(request, browser: options.browser)
            }
        }
        try options.print(
            Report(account: result.account, session: result.session, matchesHint: result.matchesHint),
            "\(TerminalText(result.account.userPrincipalName)) is signed in on this device")
    }

    private static func show(_ prompt: DeviceCodePrompt, json: Bool) {
        let page = (prompt.completePage ?? prompt.page).absoluteString
        if json {
            try? Terminal.json(event: ["event": "verification", "page": page, "userCode": prompt.userCode])
        } else {
            Terminal.talk("Open \(TerminalText(page)) in any browser and confirm the code \(prompt.userCode)")
        }
    }

    private struct Report: Encodable {
        let account: SignedInAccount
        let session: UInt64
        let matchesHint: Bool?
    }
}

/// `cordon device sign-out`: signs out everywhere on the device.
struct DeviceSignOutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-out", abstract: "Sign out everywhere on the device; works without a network.",
        discussion: """
            Reports app by app whether it has cleaned up. The exit status is 1 when a running app was late, or when the \
            session's key may still be on the device.

            Example: cordon device sign-out --socket /run/cordon/broker.sock
            """)

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let report = try await options.asking { device async throws(SignInError) in
            do throws(SignInError) { return try await device.signOut() } catch {
                // The wanted state is that no one is signed in; it holds already.
                guard error.fault == .invalidParameter else { throw error }
                return DeviceSignOutReport(
                    hadAccount: false, keyDestroyed: true,
                    revocation: RevocationOutcome.nothingToRevoke.rawValue, browserSessionMayRemain: false, apps: [],
                    session: try await device.deviceInformation().session)
            }
        }
        let apps = report.apps.map {
            "\(TerminalText($0.name)) (\(TerminalText($0.clientID))): \($0.outcome.rawValue)"
        }
        try options.print(report, ([Self.head(report)] + apps).joined(separator: "\n"))
        if !report.keyDestroyed || report.apps.contains(where: { $0.outcome == .late }) {
            throw ExitCode(ExitStatus.notInWantedState.rawValue)
        }
    }

    /// What became of the session.
    static func head(_ report: DeviceSignOutReport) -> String {
        guard report.keyDestroyed else {
            return
                "signed out, but the key of the apps' data may still be on the device: have an administrator look at its disk"
        }
        return report.hadAccount ? "signed out; the session's key is destroyed" : "no one was signed in"
    }
}

import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation

extension NotesApp {
    func listAccounts() async throws {
        let accounts = await protection?.enrolledAccounts ?? []
        let names = ["personal"] + accounts.map(\.userPrincipalName)
        screen.answer(
            "accounts", names.joined(separator: "\n"),
            [
                "accounts": .array(
                    accounts.map {
                        .object(["id": .string($0.id.rawValue), "name": .string($0.userPrincipalName)])
                    }), "current": .string(currentName),
            ])
    }

    func use(_ who: String) async throws {
        if let problem = await turn(to: try await identity(called: who)) { throw problem }
        let welcome = preferences?.welcomeText
        screen.answer(
            "use", welcome ?? "these are \(who)'s notes",
            ["current": .string(currentName), "welcome": welcome.map { .string($0) } ?? .null])
    }

    /// Whoever is called that: an account that is enrolled here, by name or id, or the person themselves.
    func identity(called who: String) async throws -> Identity {
        if who == "personal" { return .personal }
        let accounts = await protection?.enrolledAccounts ?? []
        guard let account = accounts.first(where: { $0.userPrincipalName == who || $0.id == AccountID(who) }) else {
            throw Problem("nobody called \(who) is enrolled here", hint: "Type `accounts`.")
        }
        return .managed(account.id)
    }

    /// Signs in and enrols: in a browser on this machine, or with a code in a browser anywhere.
    func signInAndEnroll(withCode: Bool) async throws {
        let protection = try protected()
        let account = try await (withCode ? signInWithCode() : signInInBrowser()).managed
        let status = await protection.enroll(account)
        guard status.didSucceed else { throw Problem(status.explanation) }
        stayInTouch(account.id)
        try await announceAccounts()
        await show(newAccount: account.id)
        screen.answer(
            "sign-in", "\(account.userPrincipalName) is enrolled",
            [
                "account": .string(account.id.rawValue), "name": .string(account.userPrincipalName),
                "status": .integer(Int64(status.rawValue)),
            ])
    }

    /// Has the window in front show the notes of an account that has just come.
    func show(newAccount account: AccountID) async {
        guard let problem = await turn(to: .managed(account)) else { return }
        screen.tell("notShown", problem.message, ["account": .string(account.rawValue)])
    }

    func signInInBrowser() async throws -> SignedInAccount {
        guard let signIn, let discovery else { throw Problem("this app was started without a service") }
        let screen = self.screen
        let request = SignInRequest(scopes: [discovery.scope], resource: discovery.resource)
        let browser = BrowserLauncher.opening { page in
            screen.tell("browser", "open \(page.absoluteString) in a browser", ["page": .string(page.absoluteString)])
        }
        if let shared { return try await shared.signIn(request, browser: browser).account }
        return try await signIn.signIn(request, browser: browser).account
    }

    private func signInWithCode() async throws -> SignedInAccount {
        guard let signIn, let discovery else { throw Problem("this app was started without a service") }
        let screen = self.screen
        let request = DeviceCodeRequest(scopes: [discovery.scope], resource: discovery.resource)
        let show = { @Sendable (prompt: DeviceCodePrompt) in
            let page = prompt.completePage ?? prompt.page
            screen.tell(
                "verification", "open \(page.absoluteString) and confirm the code \(prompt.userCode)",
                ["page": .string(page.absoluteString), "userCode": .string(prompt.userCode)])
        }
        if let shared { return try await shared.signIn(request, show: show).account }
        return try await signIn.signIn(request, show: show).account
    }

    /// The person's own account signs out: their notes go, and nobody else's.
    private func removePersonalNotes() throws {
        try? FileManager.default.removeItem(at: home.appending(path: "personal-notes"))
        screen.answer("sign-out", "your own notes are gone")
    }

    func checkIn() async throws {
        let status = await (try protected()).checkIn(try currentAccount())
        screen.answer(
            "check-in", status.explanation,
            ["status": .integer(Int64(status.rawValue)), "succeeded": .bool(status.didSucceed)])
    }

    /// The rules in force for whoever's notes are on the screen.
    func status() async throws {
        let policy = protection?.policy(of: current)
        screen.answer(
            "status", policy.map { "rules: \($0.policy.displayName)" } ?? "no rules apply to \(currentName)",
            [
                "current": .string(currentName), "managed": .bool(policy != nil),
                "policies": .array((policy?.contributors ?? []).map { .string("\($0.id) \($0.version)") }),
            ])
    }

    func wipe() async throws {
        let account = try currentAccount()
        try await (try protected()).wipe(account)
        await takeAway(account)
        screen.answer("wipe", "the organisation's data is gone")
    }

    func signOut() async throws {
        if let shared { return try await signOutOfDevice(shared) }
        guard let account = try? currentAccount() else { return try removePersonalNotes() }
        let status = await (try protected()).unenroll(account)
        await takeAway(account)
        screen.answer("sign-out", status.explanation, ["status": .integer(Int64(status.rawValue))])
    }
}

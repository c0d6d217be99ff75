import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation

extension NotesApp {
    func listAccounts() async throws {
        var accounts = await enrolledAccounts()
        if shared != nil {
            // An account stays enrolled after its sign-out until the clean-up runs. The next person must not see its name.
            let here = deviceAccount.account?.id ?? current.account
            accounts.removeAll { $0.id != here }
        }
        screen.answer(
            "accounts", .lines((shared == nil ? ["personal"] : []) + accounts.map(\.userPrincipalName)),
            [
                "accounts": .array(
                    accounts.map {
                        .object(["id": .string($0.id.rawValue), "name": .string($0.userPrincipalName)])
                    }), "current": .string(currentID),
            ])
    }

    func use(_ who: String, answering command: String = "use") async throws {
        if let account = try await identity(called: who).account { try await requireHere(account) }
        // The broker's answer may have brought a clean-up, so that it is looked up anew.
        if let problem = await turn(to: try await identity(called: who)) { throw problem }
        let welcome = preferences?.welcomeText
        let name = await currentName()
        let whose = current == .personal ? "your own" : "\(name)'s"
        screen.answer(
            command, .line(welcome ?? "these are \(whose) notes"),
            ["current": .string(currentID), "welcome": welcome.map { .string($0) } ?? .null])
    }

    /// The identity of that name: an account that is enrolled here, by name or id, or the person themselves.
    func identity(called who: String) async throws -> Identity {
        if who == "personal" {
            guard shared == nil else { throw Problem("there are no personal notes on a shared device") }
            return .personal
        }
        return .managed(try await account(called: who).id)
    }

    private func account(called who: String) async throws -> ManagedAccount {
        let accounts = await enrolledAccounts()
        guard let account = accounts.first(where: { $0.userPrincipalName == who || $0.id == AccountID(who) }) else {
            throw Problem("no account called \(who) is enrolled here", hint: "Type `accounts`.")
        }
        return account
    }

    /// Signs in and enrols: in a browser on this machine, or with a code in a browser anywhere. An account that is enrolled
    /// already passes its launch conditions again, as after too many wrong PINs.
    func signInAndEnroll(withCode: Bool) async throws {
        let protection = try protected()
        // Verify the service against its pin before asking for a password.
        try await protection.service.verify()
        isSigningIn = true
        defer { isSigningIn = false }
        let account: ManagedAccount
        if let here = try await devicesAccount() {
            account = here
        } else {
            account = try await (withCode ? signInWithCode() : signInInBrowser()).managed
        }
        await names.learn([account])
        try await requireHere(account.id)
        let status = await protection.enroll(account)
        if status == .alreadyEnrolled {
            try await use(account.id.rawValue, answering: "sign-in")
            return
        }
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

    /// The person who is on the shared device already and needs no page: the app that signed them in asked for the service as well. Nil
    /// where it is no one, where only a page gives the service's tokens, or their data was closed.
    private func devicesAccount() async throws -> ManagedAccount? {
        guard let shared, let discovery, heldBack.isEmpty, let here = try await shared.refresh().current else {
            return nil
        }
        do throws(SignInError) {
            _ = try await shared.accessToken(for: here.id, resource: discovery.resource, scopes: [discovery.scope])
            return here.managed
        } catch {
            guard error.code == .interactionRequired else { throw error }
            return nil
        }
    }

    /// Has the window in front show the notes of an account that has just come.
    func show(newAccount account: AccountID) async {
        guard let problem = await turn(to: .managed(account)) else { return }
        screen.tell("notShown", .line(problem.message), ["account": .string(account.rawValue)])
    }

    /// Shows a page and waits until it was used; the person may type `cancel` meanwhile.
    func signInInBrowser() async throws -> SignedInAccount {
        guard let signIn, let discovery else { throw Problem("this app was started without a service") }
        // A person whose data is closed may be about to be asked for credentials: once is enough.
        if !heldBack.isEmpty, let freshSignIn { return try await freshSignIn.signInAhead() }
        let (request, browser, shared) = (SignInRequest(for: discovery), screen.browser, shared)
        return try await input.untilCancelled { () async throws(SignInError) -> SignedInAccount in
            if let shared { return try await shared.signIn(request, browser: browser).account }
            return try await signIn.signIn(request, browser: browser).account
        }
    }

    /// Shows a code and waits until it was used; the person may type `cancel` meanwhile.
    private func signInWithCode() async throws -> SignedInAccount {
        guard let signIn, let discovery else { throw Problem("this app was started without a service") }
        let (screen, shared) = (screen, shared)
        let request = DeviceCodeRequest(for: discovery)
        let show = { @Sendable (prompt: DeviceCodePrompt) in
            let page = prompt.completePage ?? prompt.page
            screen.tell(
                "verification", "open \(page.absoluteString) and confirm the code \(prompt.userCode)",
                ["page": .string(page.absoluteString), "userCode": .string(prompt.userCode)])
        }
        return try await input.untilCancelled { () async throws(SignInError) -> SignedInAccount in
            if let shared { return try await shared.signIn(request, show: show).account }
            return try await signIn.signIn(request, show: show).account
        }
    }

    func checkIn() async throws {
        let status = await (try protected()).checkIn(try currentAccount())
        screen.answer(
            "check-in", .line(status.explanation),
            ["status": .integer(Int64(status.rawValue)), "succeeded": .bool(status.didSucceed)])
    }

    /// The rules in force for the owner of the notes on the screen.
    func status() async throws {
        let policy = protection?.rules.policy(of: current)
        let who = await currentName()
        screen.answer(
            "status", .line(policy.map { "rules: \($0.policy.displayName)" } ?? "no rules apply to \(who)"),
            [
                "current": .string(currentID), "managed": .bool(policy != nil),
                "policies": .array((policy?.contributors ?? []).map { .string("\($0.id) \($0.version)") }),
            ])
    }

    /// Removes an account's data from this app, once the person has said so.
    func wipe(_ removal: TypedCommand.Removal) async throws {
        let account = try await account(of: removal, by: "wipe")
        try await confirm(
            removal, "wipe", account.userPrincipalName,
            "This removes the data of \(account.userPrincipalName) from this app. Your own notes stay.")
        try await (try protected()).wipe(account.id)
        await takeAway(account.id)
        screen.answer("wipe", "the data of \(account.userPrincipalName) is gone")
    }

    /// Signs an account out and removes its data, once the person has said so. The person's own notes belong to no account
    /// and stay, whatever happens.
    func signOut(_ removal: TypedCommand.Removal) async throws {
        if let shared { return try await signOutOfDevice(shared, removal) }
        let account = try await account(of: removal, by: "sign-out")
        try await confirm(
            removal, "sign-out", account.userPrincipalName,
            "This signs \(account.userPrincipalName) out and removes the account's data from this app. Your own notes stay."
        )
        let status = await (try protected()).unenroll(account.id)
        await takeAway(account.id)
        try Self.requireRemoval(status)
        screen.answer("sign-out", .line(status.explanation), ["status": .integer(Int64(status.rawValue))])
    }

    /// Throws where not everything of an account is gone. What is here goes whether or not the service hears of it, so only a wipe that did
    /// not finish is a failure.
    static func requireRemoval(_ status: EnrollmentStatus) throws {
        guard status == .wipeIncomplete else { return }
        throw Problem(
            status.explanation, hint: "The account is closed. The rest goes by itself, or when this app starts anew.")
    }

    /// Whose data is to go: who was named, else whose notes are on the screen. An account that is kept off the screen has to be
    /// named, because the person sees another account's notes.
    private func account(of removal: TypedCommand.Removal, by command: String) async throws -> ManagedAccount {
        if let who = removal.account, who != "personal" { return try await account(called: who) }
        if removal.account == nil, let account = current.account {
            return try await self.account(called: account.rawValue)
        }
        var hint = "`accounts` lists who is signed in, and `\(command) NAME` removes one of them."
        if let closed = heldBack[window] {
            hint = "Type `\(command) \(await names.name(of: closed))` if you mean the account that is closed."
        }
        throw Problem("these are your own notes, which stay here", hint: hint)
    }

    /// Says what is about to happen, and to whom, and goes on only after a yes.
    func confirm(_ removal: TypedCommand.Removal, _ command: String, _ name: String, _ what: String) async throws {
        if removal.isConfirmed { return }
        guard asks else { throw Problem(what, hint: "Type `\(command) \(name) yes` if that is what you want.") }
        screen.tell("confirm", "\(what) Type yes to go on:", ["text": .string(what)])
        guard await answers.next() == "yes" else { throw Problem("nothing was removed") }
    }
}

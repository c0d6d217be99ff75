import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn

/// Where the broker's client finds the app once it is there.
actor LeavingDesk {
    private weak var app: NotesApp?

    /// From here on the app removes what others left.
    func open(for app: NotesApp) {
        self.app = app
    }

    /// Removes the data of an account that left; while the app is still starting, the broker asks again later.
    func cleanUp(_ leaving: CleanUp) async throws {
        guard let app else { throw Problem("the app is not ready") }
        try await app.cleanUp(leaving)
    }
}

/// The account of a shared device. Until it is known the screen shows no one's data, and it never shows personal data.
enum DeviceAccount: Equatable {
    /// The broker has not answered yet.
    case unknown
    /// The shift is free: the device waits for a sign-in.
    case signedOut
    case here(SignedInAccount)

    /// Who is here; nil where no one is, or it is not known.
    var account: SignedInAccount? {
        if case .here(let account) = self { account } else { nil }
    }

    /// What stands where an account's name would.
    var words: String {
        switch self {
        case .unknown: "asking who is here"
        case .signedOut: "no one is signed in"
        case .here(let account): account.userPrincipalName
        }
    }
}

extension NotesApp {
    /// Follows the device's account: a sign-in in any app counts here too. Accounts that this app signed in without the broker are
    /// removed once the device is shared.
    func follow(_ shared: SharedDeviceMode) async {
        for await now in shared.accountChanges() {
            await removeOwnAccounts(shared)
            let here: DeviceAccount = now.owed.isEmpty ? now.current.map { .here($0) } ?? .signedOut : .unknown
            guard here != deviceAccount else { continue }
            deviceAccount = here
            // A sign-in in this app enrols the account itself.
            if case .here(let account) = here, !isSigningIn { await welcome(account) }
            await prompt()
        }
    }

    /// Enrols the device's account without a sign-in page: the broker has the account already.
    private func welcome(_ account: SignedInAccount) async {
        guard let protection else { return }
        await names.learn([account.managed])
        do { try await requireHere(account.id) } catch {
            return screen.tell(
                "notEnrolled", .line(Self.problem(error).sentences), ["account": .string(account.id.rawValue)])
        }
        let status = await protection.enroll(account.managed)
        guard status.didSucceed || status == .alreadyEnrolled else {
            let words =
                status.nextStep == .signIn
                ? "\(account.userPrincipalName) is signed in on this device; type `sign-in` to open the notes"
                : status.explanation
            return screen.tell("notEnrolled", .line(words), ["account": .string(account.id.rawValue)])
        }
        stayInTouch(account.id)
        try? await announceAccounts()
        if current.account != account.id { await show(newAccount: account.id) }
        screen.tell(
            "deviceAccount", "\(account.userPrincipalName) is signed in on this device",
            ["account": .string(account.id.rawValue), "status": .integer(Int64(status.rawValue))])
    }

    /// Opens the key of the session in force, where the broker gives it out; whether it did. It gives none while this app owes the clean-up
    /// of another session.
    static func open(_ keys: SharedDeviceKeyStore?, on shared: SharedDeviceMode?) async -> Bool {
        guard let keys, let shared, let here = try? await shared.currentAccount().current,
            let key = try? await shared.sessionKey(for: here.id)
        else { return false }
        return (try? keys.open(with: key)) != nil
    }

    /// Asks the broker whether this account is signed in on the shared device now, and opens its session's key. The broker first has the
    /// app remove anyone who left.
    ///
    /// `deviceAccount` does not count: the person may have left while this app was suspended.
    func requireHere(_ account: AccountID) async throws {
        guard let shared, let sessionKeys else { return }
        guard let here = try await shared.refresh().current, here.id == account else {
            throw Problem("\(await names.name(of: account)) is not signed in on this device", hint: "Type `sign-in`.")
        }
        let key = try await shared.sessionKey(for: account)
        try sessionKeys.open(with: key)
        guard keysCameLate, let protection else { return }
        guard protection.enrolledAccounts.contains(where: { $0.id == account }) else {
            keysCameLate = false
            return
        }
        // What was stored when the app started without the key is closed until the service has said again what holds.
        let status = await protection.checkIn(account)
        keysCameLate = !status.didSucceed
    }

    /// Refuses what is done with notes on a shared device, unless they are on the screen and of the person who the broker says is here.
    func requireSomebody(for command: TypedCommand) async throws {
        guard let shared, command.concernsNotes else { return }
        if let account = current.account { return try await requireHere(account) }
        // Without the broker no one is here, whatever this app knew before.
        try await shared.refresh()
        if let closed = heldBack[window], case .here(let account) = deviceAccount, account.id == closed {
            throw Problem(
                "\(account.userPrincipalName)'s notes are closed", hint: "Type `use \(account.userPrincipalName)`.")
        }
        switch deviceAccount {
        case .unknown: throw Problem("the device has not said yet who is here", hint: "Try again in a moment.")
        case .signedOut: throw Problem("no one is signed in on this device", hint: "Type `sign-in`.")
        case .here(let account):
            throw Problem("\(account.userPrincipalName)'s notes are not open", hint: "Type `sign-in`.")
        }
    }

    private func removeOwnAccounts(_ shared: SharedDeviceMode) async {
        guard let signIn else { return }
        do {
            try await shared.removeOwnAccounts(of: signIn) { account in
                await self.takeAway(account)
                try await self.removeData(of: account)
            }
        } catch {
            screen.tell("accountsKept", "earlier accounts are still here: \(Self.problem(error).message)")
        }
    }

    /// Removes everything of a person who left the device: work, enrolment while a token can still be had, files.
    func cleanUp(_ leaving: CleanUp) async throws {
        await takeAway(leaving.account)
        await leaving.workStopped()
        // The ended session's key opens nothing more, and `follow` welcomes the next person even if it is the same one.
        sessionKeys?.close()
        deviceAccount = .unknown
        try await removeData(of: leaving.account)
        await leaving.dataCleared()
    }

    private func removeData(of account: AccountID) async throws {
        // After a failure it is called again.
        if let protection { try Self.requireRemoval(await protection.unenroll(account, because: .signedOut)) }
        screen.tell(
            "leftDevice", "\(await names.name(of: account)) has left this device",
            ["account": .string(account.rawValue)])
    }

    /// Signs the person out of the whole device; every app removes what is theirs to remove.
    func signOutOfDevice(_ shared: SharedDeviceMode, _ removal: TypedCommand.Removal) async throws {
        guard let here = try await shared.currentAccount().current else {
            throw Problem("no one is signed in on this device")
        }
        if let who = removal.account, who != here.userPrincipalName, AccountID(who) != here.id {
            throw Problem("\(who) is not signed in on this device", hint: "\(here.userPrincipalName) is.")
        }
        try await confirm(
            removal, "sign-out", here.userPrincipalName,
            "This signs \(here.userPrincipalName) out of every app on this device, and removes the data of that account."
        )
        let report = try await shared.signOut()
        screen.answer(
            "sign-out",
            report.keyDestroyed
                ? "signed out everywhere on this device"
                : "signed out everywhere, but this device's disk does not let go of the key: tell an administrator",
            [
                "keyDestroyed": .bool(report.keyDestroyed),
                "apps": .array(report.apps.map { .string("\($0.clientID)=\($0.outcome.rawValue)") }),
            ])
    }
}

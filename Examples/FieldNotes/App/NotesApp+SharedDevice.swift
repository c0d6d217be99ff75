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

    /// Removes what somebody left; before the app is there it is put off.
    func cleanUp(_ leaving: CleanUp) async throws {
        guard let app else { throw Problem("the app is not ready") }
        try await app.cleanUp(leaving)
    }
}

extension NotesApp {
    /// Follows the device's account; whom this app had signed in by itself leaves as soon as the device is shared.
    func follow(_ shared: SharedDeviceMode) async {
        for await _ in shared.accountChanges() {
            guard let signIn else { continue }
            do {
                try await shared.removeOwnAccounts(of: signIn) { account in
                    await self.stopWork(for: account)
                    try await self.removeData(of: account)
                }
            } catch {
                screen.tell("accountsKept", "earlier accounts are still here: \(Self.problem(error).message)")
            }
        }
    }

    /// Removes everything of somebody who left the device: work, enrolment while a token can still be had, files.
    func cleanUp(_ leaving: CleanUp) async throws {
        await stopWork(for: leaving.account)
        await leaving.workStopped()
        try await removeData(of: leaving.account)
        await leaving.dataCleared()
    }

    private func stopWork(for account: AccountID) async {
        await takeAway(account)
        loseTouch(account)
    }

    private func removeData(of account: AccountID) async throws {
        // What is here goes whether or not the service hears of it; only a wipe that did not finish is called again.
        if let status = await protection?.unenroll(account, because: .signedOut), status == .wipeIncomplete {
            throw Problem(status.explanation)
        }
        screen.tell(
            "leftDevice", "\(await names.name(of: account)) has left this device",
            ["account": .string(account.rawValue)])
    }

    /// Signs everybody out of the device; every app removes what is theirs to remove.
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
            "sign-out", "signed out everywhere on this device",
            [
                "keyDestroyed": .bool(report.keyDestroyed),
                "apps": .array(report.apps.map { .string("\($0.clientID)=\($0.outcome.rawValue)") }),
            ])
    }
}

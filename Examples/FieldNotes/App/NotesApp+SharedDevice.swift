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
    /// Removes everything of somebody who left the device: work, enrolment while a token can still be had, files.
    func cleanUp(_ leaving: CleanUp) async throws {
        if current == .managed(leaving.account) { current = .personal }
        loseTouch(leaving.account)
        await leaving.workStopped()
        // What is here goes whether or not the service hears of it; only a wipe that did not finish is called again.
        if let status = await protection?.unenroll(leaving.account, because: .signedOut), status == .wipeIncomplete {
            throw Problem(status.explanation)
        }
        await leaving.dataCleared()
        screen.tell(
            "leftDevice", "\(leaving.account) has left this device", ["account": .string(leaving.account.rawValue)])
    }

    /// Signs everybody out of the device; every app removes what is theirs to remove.
    func signOutOfDevice(_ shared: SharedDeviceMode) async throws {
        let report = try await shared.signOut()
        screen.answer(
            "sign-out", "signed out everywhere on this device",
            [
                "keyDestroyed": .bool(report.keyDestroyed),
                "apps": .array(report.apps.map { .string("\($0.clientID)=\($0.outcome.rawValue)") }),
            ])
    }
}

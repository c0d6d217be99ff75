internal import CordonIdentity
internal import CordonSignIn
internal import Foundation

/// What a broker must not forget. Refresh tokens are not in it: they lie in the token cache, sealed per session.
struct BrokerState: Codable, Sendable, Equatable {
    /// Rises with every change of account or registration; never used twice (SI-072).
    var session: UInt64 = 0
    var registration: RegistrationRecord?
    var account: AccountRecord?
    /// What each app saw and owes, by ``AppIdentity/key``.
    var apps: [String: AppRecord] = [:]

    /// The device in the directory.
    struct RegistrationRecord: Codable, Sendable, Equatable {
        var facts: DeviceInformation.Registration
        /// The request, signed by the device's key: proof of possession for whoever keeps the register.
        var request: String
    }

    /// Who is signed in.
    struct AccountRecord: Codable, Sendable, Equatable {
        var facts: SignedInAccount
        /// The session number of the sign-in.
        var session: UInt64
        var began: Date
    }

    /// One app's view of the account (SI-033, SI-036).
    struct AppRecord: Codable, Sendable, Equatable {
        var name: String
        var clientID: String
        var lastSeen: AccountID?
        /// The session in which the app saw ``lastSeen``.
        var seenSession: UInt64?
        var owed: [CurrentAccount.OwedCleanUp] = []
    }

    /// Ends the account's session: every app that saw it owes a clean-up from now on.
    mutating func endAccount() {
        guard let ended = account else { return }
        account = nil
        session += 1
        for (key, app) in apps where app.seenSession == ended.session {
            let mark = CurrentAccount.OwedCleanUp(account: ended.facts.id, session: ended.session)
            if !app.owed.contains(mark) { apps[key]?.owed.append(mark) }
        }
    }
}

/// An app towards the broker: a program of the list, and the client id it uses.
struct AppIdentity: Sendable, Hashable {
    let name: String
    let clientID: String
    var key: String { name + "\n" + clientID }
}

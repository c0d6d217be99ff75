internal import CordonIdentity
internal import CordonSignIn
internal import Foundation

/// What a broker must not forget. Refresh tokens are not in it: they lie in the token cache, sealed per session.
struct BrokerState: Codable, Sendable, Equatable {
    /// Rises with every change of account or registration; never used twice (SI-072).
    var session: UInt64 = 0
    var registration: RegistrationRecord?
    var account: AccountRecord?
    /// The newest signed policy that the device was run by; nil before the first.
    var policyVersion: Int?
    /// Whether the device was shared, with every part of the mode there; nil for not yet (SI-019).
    var wasShared: Bool?
    /// When ``session`` began; nil before the first change.
    var changed: Date?
    /// When a person was last seen at work, to the minute.
    var activity: Date?
    /// When the clock was last looked at in the account's session, to the minute; nil where no limit ends it.
    var looked: Date?
    /// What each app saw and owes, by ``AppIdentity/key``.
    var apps: [String: AppRecord] = [:]

    /// The device in the directory.
    struct RegistrationRecord: Codable, Sendable, Equatable {
        var facts: DeviceInformation.Registration
        /// The request, signed by the device's key: proof of possession for the service that keeps the register.
        var request: String
    }

    /// Who is signed in.
    struct AccountRecord: Codable, Sendable, Equatable {
        var facts: SignedInAccount
        /// The session number of the sign-in.
        var session: UInt64
        var began: Date
        /// When they last gave credentials, which may be before ``began``; nil for then.
        var authenticated: Date?
        /// Random and the session's own; nil for one that an older broker began.
        var nonce: String?
        /// The client id that the tokens are for; nil where an older broker got them.
        var clientID: String?
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

    /// The longest list of an app that never cleans up; what is older cannot be read any more, its key is gone.
    private static let mostOwed = 256

    /// Every person whom the state names.
    var people: Set<AccountID> {
        var people = Set(apps.values.flatMap { app in app.owed.map(\.account) + [app.lastSeen].compactMap(\.self) })
        if let account { people.insert(account.facts.id) }
        return people
    }

    /// Ends the account's session: every app that saw it owes a clean-up from now on.
    mutating func endAccount(at now: Date, because reason: SignOutReason, waiting: TimeInterval) {
        guard let ended = account else { return }
        account = nil
        session += 1
        changed = now
        activity = nil
        looked = nil
        for (key, app) in apps where app.seenSession == ended.session {
            guard !app.owed.contains(where: { $0.session == ended.session }) else { continue }
            apps[key]?.owed.append(
                CurrentAccount.OwedCleanUp(
                    account: ended.facts.id, session: ended.session, reason: reason,
                    deadline: Date(timeIntervalSince1970: (now.timeIntervalSince1970 + waiting).rounded(.down))))
            if app.owed.count >= Self.mostOwed { apps[key]?.owed.removeFirst() }
        }
    }
}

extension BrokerState {
    /// What an app owes, under whichever of its client ids it saw the sessions; each session once, oldest first.
    ///
    /// - Parameter clientIDs: Those of the app's entry.
    func owed(by app: AppIdentity, as clientIDs: [String]) -> [CurrentAccount.OwedCleanUp] {
        var sessions: Set<UInt64> = []
        return records(of: app, as: clientIDs).values.flatMap(\.owed).sorted { $0.session < $1.session }
            .filter { sessions.insert($0.session).inserted }
    }

    /// Takes down that an app has removed what it had of a session; says whether it owed that.
    mutating func noteCleanUp(by app: AppIdentity, as clientIDs: [String], of session: UInt64) -> Bool {
        let owing = records(of: app, as: clientIDs).filter { $0.value.owed.contains { $0.session == session } }
        for key in owing.keys { apps[key]?.owed.removeAll { $0.session == session } }
        return !owing.isEmpty
    }

    private func records(of app: AppIdentity, as clientIDs: [String]) -> [String: AppRecord] {
        apps.filter { $0.value.name == app.name && clientIDs.contains($0.value.clientID) }
    }

    /// Marks that an app is about to see the account in force; what it saw before is left as it is.
    mutating func noteAudience(_ app: AppIdentity) {
        guard let account else { return }
        apps[app.key, default: AppRecord(name: app.name, clientID: app.clientID)].seenSession = account.session
    }

    /// Marks that an app saw the account in force; says whether that is new.
    mutating func noteUse(by app: AppIdentity) -> Bool {
        guard let account, apps[app.key]?.seenSession != account.session else { return false }
        var record = apps[app.key] ?? AppRecord(name: app.name, clientID: app.clientID)
        record.seenSession = account.session
        record.lastSeen = record.lastSeen ?? account.facts.id
        apps[app.key] = record
        return true
    }
}

/// An app towards the broker: a program of the list, and the client id it uses.
struct AppIdentity: Sendable, Hashable {
    let name: String
    let clientID: String
    var key: String { name + "\n" + clientID }
}

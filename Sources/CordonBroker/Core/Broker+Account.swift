internal import CordonBase
internal import CordonProtocol
internal import CordonSignIn
internal import Foundation

extension Broker {
    /// Who is here, and whom this app saw when it last asked; reading reports a change once (SI-032 to SI-036).
    func currentAccount(_ peer: Int) throws(SignInError) -> BrokerAnswer {
        let app = try app(peer).identity
        try requireShared()
        let key = app.key
        let known = state.apps[key] ?? BrokerState.AppRecord(name: app.name, clientID: app.clientID)
        var seen = known
        seen.lastSeen = state.account?.facts.id
        seen.seenSession = state.account?.session
        if seen != state.apps[key] {
            var changed = state
            changed.apps[key] = seen
            // That the app saw this session must not be forgotten: it owes a clean-up at the end.
            if seen.seenSession != nil, seen.seenSession != known.seenSession {
                try commit(changed, telling: nil)
            } else {
                changeLazily(changed)
            }
        }
        var answer = BrokerAnswer()
        answer.current = CurrentAccount(
            current: state.account?.facts, previous: known.lastSeen, owed: known.owed,
            session: state.account?.session ?? state.session)
        return answer
    }

    func accountList(_ peer: Int) throws(SignInError) -> BrokerAnswer {
        _ = try app(peer)
        try requireShared()
        var answer = BrokerAnswer()
        answer.accounts = state.account.map { [$0.facts] } ?? []
        return answer
    }

    /// What the app seals data under in this session.
    func accountKey(_ request: BrokerRequest, _ peer: Int) throws(SignInError) -> BrokerAnswer {
        let app = try app(peer).identity
        let account = try account(of: request)
        try refuseWhileOwing(app)
        try noteUse(by: app)
        guard let key = try store.key(session: account.session, app: app, account: account.facts.id) else {
            throw SignInError(.storage, .storeDamaged, "the session's secret is gone")
        }
        var answer = BrokerAnswer()
        answer.key = Base64URL.encode(key)
        return answer
    }

    /// The account that a request means, if it is the one in force (SI-072).
    func account(of request: BrokerRequest) throws(SignInError) -> BrokerState.AccountRecord {
        try requireShared()
        guard let account = state.account else {
            throw SignInError(.interactionRequired, .signedOut, "nobody is signed in on this device")
        }
        if let wanted = request.account, wanted != account.facts.id {
            throw SignInError(.interactionRequired, .signedOut, "the account is not signed in on this device")
        }
        if let session = request.session, session != account.session {
            throw SignInError(.interactionRequired, .sessionChanged, "another session is in force")
        }
        return account
    }

    /// An app that has still to remove somebody's data gets nothing of somebody else's (SI-067).
    func refuseWhileOwing(_ app: AppIdentity) throws(SignInError) {
        guard state.apps[app.key]?.owed.isEmpty ?? true else { throw SharedDeviceMode.owed }
    }

    /// Whoever gets a token or key has seen the account, asked or not: at its end the app owes a clean-up.
    ///
    /// - Throws: ``SignInError`` with code `storage`: without the mark the app must not get anything.
    func noteUse(by app: AppIdentity) throws(SignInError) {
        var changed = state
        guard changed.noteUse(by: app) else { return }
        try commit(changed, telling: nil)
    }

    // MARK: Clean-up

    /// An app says how far it is; done takes the mark away.
    func report(_ request: BrokerRequest, _ peer: Int) throws(SignInError) -> BrokerAnswer {
        let app = try app(peer).identity
        guard let session = request.session, let stage = request.stage else {
            throw SignInError(.configuration, .invalidParameter, "the report names no session or no stage")
        }
        if stage == .done, var record = state.apps[app.key], record.owed.contains(where: { $0.session == session }) {
            record.owed.removeAll { $0.session == session }
            var changed = state
            changed.apps[app.key] = record
            changeLazily(changed)
        }
        departures[session]?.stages[app.key] = stage
        checkDeparture(session)
        return BrokerAnswer()
    }
}

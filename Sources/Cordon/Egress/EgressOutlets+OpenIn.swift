public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
public import Foundation

/// Handing an item to another managed app of the same account: "Open in …" (SDK-SX-02…04, SC-07).
extension EgressOutlets {
    /// Asks whether an item may be handed to a managed app of the same account.
    ///
    /// - Throws: ``ProtectionError``: `denied` with every reason.
    public nonisolated func openInPermit(of owner: Identity) throws(ProtectionError) -> EgressPermit {
        var question = Question(.send, owner: EffectiveIdentity(owner))
        question.peer = owner.account.map { .managed($0) } ?? .personal
        return try rules.permit(for: question)
    }

    /// Hands an item to another app. It seals an organisation's item, name and all, so that only an app of the group in which the
    /// same account is enrolled can take it; personal data stays plain.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, `permitOutdated`, `notEnrolled`, `noSharingGroup`, `vault`, or
    ///   `outletFailed`.
    public func openIn(
        _ contents: Data, named name: String, of owner: Identity, by app: some ReceivingApp,
        permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        let owner = owner.account.map { context.accounts.resolved($0) }
        _ = try rules.spend(permit, for: .send, of: owner)
        var item = SharedItem(
            owner: owner, senderBundleID: context.configuration.application.bundleID, name: name, contents: contents)
        if let account = owner {
            try group.requireEnrolled(account)
            item.name = ""
            item.contents = try await group.opened().seal(contents, named: name, for: account, as: .handOver)
        }
        do { try await app.deliver(item) } catch {
            throw ProtectionError(.outletFailed, "the receiving app did not take it")
        }
    }

    /// Takes what another app handed over, if the rules of both sides let it in (SDK-DT-19, SDK-DT-24, SDK-DT-25).
    ///
    /// Only a seal proves that an item is an organisation's: its owner's gate must be open before and after Cordon opens it. An item without
    /// a seal counts as coming from an unmanaged app, whichever account it claims, and must also meet the rules of that account. An
    /// extension, in which no one passes the gate, uses ``takeIntoFiles(_:for:as:)``.
    ///
    /// - Parameters:
    ///   - item: What was handed over.
    ///   - receiver: The identity that is active where the item arrives.
    /// - Returns: The item with its owner, under whom the app stores and shows it (SDK-FP-08).
    /// - Throws: ``ProtectionError``: `denied` with the verdict's reasons or those of the closed gate, `notEnrolled`,
    ///   `noSharingGroup`, `vault` or `damagedContent`.
    public func take(_ item: SharedItem, for receiver: Identity) async throws -> TakenItem {
        try await opened(item, for: receiver).taken
    }

    /// Takes what another app handed over, as ``take(_:for:)`` does, and runs the app's handling of it. In the closure,
    /// `IdentityContext.currentSender` is the account that sent it, if a seal proves that (SDK-ID-42).
    ///
    /// ```swift
    /// try await protection.outlets.take(item, for: current) { taken in
    ///     try await open(taken, from: IdentityContext.currentSender)
    /// }
    /// ```
    /// - Throws: As ``take(_:for:)``; otherwise what the closure throws.
    public func take<Result>(
        _ item: SharedItem, for receiver: Identity, isolation: isolated (any Actor)? = #isolation,
        handling: (TakenItem) async throws -> Result
    ) async throws -> Result {
        let (taken, sender) = try await opened(item, for: receiver)
        return try await IdentityContext.with(sender: sender) { try await handling(taken) }
    }

    private func opened(
        _ item: SharedItem, for receiver: Identity
    ) async throws -> (taken: TakenItem, sender: AccountID?) {
        try await received(item, for: receiver) { (owner) throws(ProtectionError) in
            try rules.requireOpenGate(for: Question(.receive, owner: .managed(owner)))
        }
    }

    /// Takes what another app handed over into the account's files, if ``take(_:for:)`` would let it in. Like
    /// ``AccountFiles/write(_:as:of:)`` it needs no open gate, because the caller does not get the contents.
    ///
    /// - Parameters:
    ///   - item: What was handed over.
    ///   - receiver: The account that takes it.
    ///   - name: Makes the file's name from the name that the item came with; replaces a file of that name.
    /// - Returns: Whose file it is, and its name.
    /// - Throws: ``ProtectionError``: as ``take(_:for:)``, and as ``AccountFiles/write(_:as:of:)``.
    public func takeIntoFiles(
        _ item: SharedItem, for receiver: AccountID, as name: @Sendable (_ given: String) -> String
    ) async throws -> (owner: AccountID, name: String) {
        let (taken, _) = try await received(item, for: .managed(receiver)) { _ in }
        let (owner, name) = (taken.owner.account ?? receiver, name(taken.name))
        try await files.write(taken.contents, as: name, of: owner)
        return (owner, name)
    }

    /// - Parameter requireGate: Refuses to show what is the owner's while it may not be shown.
    /// - Returns: The thing, and the account whose seal proves who sent it.
    private func received(
        _ item: SharedItem, for receiver: Identity, _ requireGate: (AccountID) throws(ProtectionError) -> Void
    ) async throws -> (taken: TakenItem, sender: AccountID?) {
        if item.owner != nil || receiver != .personal { rules.reportingLostWork(IdentityContext.current) }
        guard let owner = group.vault?.owner(of: item.contents) else {
            try admit(.unmanagedApp, for: receiver)
            if let claimed = item.owner { try admit(.managed(claimed), for: receiver) }
            return (TakenItem(owner: receiver, name: item.name, contents: item.contents), sender: nil)
        }
        try admit(.managed(owner), for: receiver)
        // Without the owner's rules it could not be said here what may become of it.
        try group.requireEnrolled(owner)
        try requireGate(owner)
        let (name, contents) = try await group.opened().open(item.contents, of: owner, as: .handOver)
        try requireGate(owner)
        return (TakenItem(owner: .managed(owner), name: name, contents: contents), sender: owner)
    }

    private nonisolated func admit(_ sender: Peer, for receiver: Identity) throws(ProtectionError) {
        var question = Question(.receive, owner: EffectiveIdentity(receiver))
        question.peer = sender
        if let refusal = rules.refusal(of: question) { throw ProtectionError(denied: refusal) }
    }

    /// Tells the extensions of the group what notifications may show, for every enrolled account.
    ///
    /// An app with a ``SharingGroup`` need not call it: Cordon does so at the start, after enrolment and whenever
    /// rules come into force. It is for an app that wants to know whether the values could be written.
    ///
    /// - Throws: ``ProtectionError``: `noSharingGroup`, `vault`, or `stateUnwritable`.
    public func publishNotificationLevels() async throws(ProtectionError) {
        try await group.publishNotificationLevels()
    }

    /// What a share sheet may offer for an identity's data, out of everything that it could (SDK-SX-01, SDK-SX-02). Any thread.
    ///
    /// If data may go to managed apps only, "Copy to" goes and "Open in" stays. It says what the rules allow, not whether
    /// an app is there to take it (SDK-DT-28); each way out still takes a permit.
    public nonisolated func shareSheet(_ offered: [ShareTarget], for owner: Identity) -> ShareSheet {
        var shown: [ShareTarget] = []
        var hidden: [ShareTarget: PolicyDecision] = [:]
        for target in offered {
            if let refusal = rules.refusal(of: target.question(of: owner)) {
                hidden[target] = refusal
            } else {
                shown.append(target)
            }
        }
        return ShareSheet(shown: shown, hidden: hidden)
    }
}

/// An item that the app took from another one.
public struct TakenItem: Sendable, Equatable {
    /// Its owner.
    public let owner: Identity
    /// Its name.
    public let name: String
    /// Its contents.
    public let contents: Data

    /// Makes an item.
    public init(owner: Identity, name: String, contents: Data) {
        self.owner = owner
        self.name = name
        self.contents = contents
    }
}

extension ShareTarget {
    fileprivate func question(of owner: Identity) -> Question {
        let own: Peer = owner.account.map { .managed($0) } ?? .personal
        var question = Question(.send, owner: EffectiveIdentity(owner))
        switch kind {
        case .openIn, .managedApp: question.peer = own
        case .copyTo, .otherApp: question.peer = Peer(app: .unmanaged, account: .unmanaged, bundleID: id)
        case .print: question.action = .print
        case .clipboard:
            // Whether anything can be copied at all; how far it goes is asked when it is.
            question.action = .copy
            question.peer = own
        case .photos:
            question.action = .saveTo
            question.location = .cameraRoll
        case .files:
            question.action = .saveTo
            question.location = .other
        }
        return question
    }
}

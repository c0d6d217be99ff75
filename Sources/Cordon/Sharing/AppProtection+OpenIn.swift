public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
public import Foundation

/// Handing a thing to another managed app of the same account: "Open in …" (SDK-SX-02…04, SC-07).
extension AppProtection {
    /// Asks whether a thing may be handed to a managed app of the same account.
    ///
    /// - Throws: ``EgressDenied`` with every reason.
    public nonisolated func openInPermit(of owner: Identity) throws(EgressDenied) -> EgressPermit {
        var question = Question(.send, owner: EffectiveIdentity(owner))
        question.peer = owner.account.map { .managed($0) } ?? .personal
        return try permit(for: question)
    }

    /// Hands a thing to another app: an organisation's sealed, name and all, so that only an app of the group in which the
    /// same account is enrolled can take it; personal data plain.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, `permitOutdated`, `notEnrolled`, `noSharingGroup`, `vault`, or
    ///   `outletFailed`.
    public func openIn(
        _ contents: Data, named name: String, of owner: Identity, by app: some ReceivingApp,
        permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        let owner = owner.account.map { resolved($0) }
        _ = try spend(permit, for: .send, of: owner)
        var item = SharedItem(
            owner: owner, senderBundleID: configuration.application.bundleID, name: name, contents: contents)
        if let account = owner {
            try requireEnrolled(account)
            item.name = ""
            item.contents = try await group().seal(contents, named: name, for: account, as: .handOver)
        }
        do { try await app.deliver(item) } catch {
            throw ProtectionError(.outletFailed, "the receiving app took nothing")
        }
    }

    /// Takes what another app handed over, if the rules of both sides let it in (SDK-DT-19, SDK-DT-24, SDK-DT-25).
    ///
    /// Only a seal proves that a thing is an organisation's: what is not sealed comes from an unmanaged app, whoever it
    /// says it belongs to, and keeps to that owner's rules besides.
    ///
    /// - Parameter receiver: Who is active where it is to arrive.
    /// - Returns: The thing with its owner, under whom the app stores and shows it (SDK-FP-08).
    /// - Throws: ``TakeFailure`` with the verdict's reasons, or with what went wrong.
    public func take(_ item: SharedItem, for receiver: Identity) async throws(TakeFailure) -> TakenItem {
        if item.owner != nil || receiver != .personal { noted(IdentityContext.current) }
        guard let owner = groupVault?.owner(of: item.contents) else {
            try admit(.unmanagedApp, for: receiver)
            if let claimed = item.owner { try admit(.managed(claimed), for: receiver) }
            return TakenItem(owner: receiver, name: item.name, contents: item.contents)
        }
        try admit(.managed(owner), for: receiver)
        do throws(ProtectionError) {
            // Without the owner's rules nobody here could say what may become of it.
            try requireEnrolled(owner)
            let (name, contents) = try await group().open(item.contents, of: owner, as: .handOver)
            return TakenItem(owner: .managed(owner), name: name, contents: contents)
        } catch { throw .failed(error) }
    }

    private nonisolated func admit(_ sender: Peer, for receiver: Identity) throws(TakeFailure) {
        var question = Question(.receive, owner: EffectiveIdentity(receiver))
        question.peer = sender
        let decision = decision(for: question)
        guard decision.verdict.permits else { throw .denied(EgressDenied(decision)) }
    }

    private func requireEnrolled(_ account: AccountID) throws(ProtectionError) {
        guard records[account] == nil else { return }
        throw ProtectionError(.notEnrolled, "the account is not enrolled in this app")
    }

    func group() throws(ProtectionError) -> GroupVault {
        guard let groupVault else {
            throw ProtectionError(.noSharingGroup, "this app shares nothing with the organisation's other apps")
        }
        return groupVault
    }
}

/// A thing that was taken in.
public struct TakenItem: Sendable, Equatable {
    /// Whose it is.
    public let owner: Identity
    /// Its name.
    public let name: String
    /// Its contents.
    public let contents: Data

    /// States a thing.
    public init(owner: Identity, name: String, contents: Data) {
        self.owner = owner
        self.name = name
        self.contents = contents
    }
}

/// Why nothing was taken in.
public enum TakeFailure: Error, Sendable, Equatable {
    /// The rules do not let it in.
    case denied(EgressDenied)
    /// The rules do, but something went wrong.
    case failed(ProtectionError)
}

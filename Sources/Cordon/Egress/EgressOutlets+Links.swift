internal import CordonBase
public import CordonIdentity
public import CordonPolicy
internal import CordonProtocol
public import Foundation

/// Opening a link outside the app (SDK-DT-26, SDK-PO-02).
extension EgressOutlets {
    /// Asks whether a link may be opened.
    ///
    /// The permit's decision is `restrict` if the rules send the link to another address, such as one of the managed browser;
    /// ``openLink(_:of:with:permit:)`` then opens that one.
    /// - Parameters:
    ///   - link: The link.
    ///   - owner: Whose data it stands in.
    ///   - app: The app that takes the link, if known; nil for whichever takes its scheme.
    ///   - isUniversal: Whether to open it only in the app that claims it as a universal link.
    /// - Throws: ``ProtectionError``: `denied` with every reason, also if the rules send the link to an app that they do not name.
    public nonisolated func linkPermit(
        for link: URL, of owner: Identity, by app: Peer? = nil, isUniversal: Bool = false
    ) throws(ProtectionError) -> EgressPermit {
        var question = Question(isUniversal ? .openUniversalLink : .openURL, owner: EffectiveIdentity(owner))
        question.url = link.absoluteString
        question.peer = app
        let permit = try rules.permit(for: question)
        guard address(for: permit.question, permit.decision) == nil else { return permit }
        throw ProtectionError(denied: PolicyDecision(reasons: permit.decision.reasons.compactMap(\.unnamedApp)))
    }

    /// Opens a link, or the address that the rules put in its place.
    ///
    /// - Returns: The address that was opened.
    /// - Throws: ``ProtectionError``: `noPermit`, also where the permit is for another link or the rules name no app for it;
    ///   `permitOutdated`; `outletFailed`.
    @discardableResult
    public nonisolated func openLink(
        _ link: URL, of owner: Identity, with opener: some LinkOpener, permit: consuming EgressPermit
    ) async throws(ProtectionError) -> URL {
        let (action, decision) = (permit.question.action, permit.decision)
        guard action == .openURL || action == .openUniversalLink else {
            throw ProtectionError(.noPermit, "the permit is for another action")
        }
        let question = try rules.spend(permit, for: action, of: EffectiveIdentity(owner).account)
        guard question.url == link.absoluteString, let address = address(for: question, decision) else {
            throw ProtectionError(.noPermit, "the permit is for another link, or for an app that the rules do not name")
        }
        do { try await opener.open(address) } catch { throw ProtectionError(.outletFailed, "nothing opened the link") }
        return address
    }

    /// What is opened for a link that may be: the link itself, or what takes its place; nil where the rules do not say what.
    private nonisolated func address(for question: Question, _ decision: PolicyDecision) -> URL? {
        guard let link = question.url.flatMap({ URL(string: $0) }) else { return nil }
        let settings = decision.reasons.filter { $0.verdict == .restrict }.map(\.setting)
        guard !settings.isEmpty else { return link }
        // A page of several people's is under several people's rules, which may send it to different apps.
        guard question.coVisibleIdentities.isEmpty, let account = question.owner?.account,
            let policy = rules.policy(of: .managed(account))
        else { return nil }
        // Not what the device's management gave, which no service has signed.
        let configuration = rules.accounts.state(of: rules.accounts.resolved(account))?.delivery.configuration ?? .empty
        let addresses = settings.map {
            policy.address(for: link.absoluteString, by: $0, configuration: configuration).flatMap { URL(string: $0) }
        }
        // One address cannot follow two settings that send the link to different apps.
        guard let first = addresses.first, addresses.allSatisfy({ $0 == first }) else { return nil }
        return first
    }
}

extension PolicyReason {
    /// The denial of a link that this reason sends to an app of which no scheme is known.
    fileprivate var unnamedApp: PolicyReason? {
        guard verdict == .restrict, let rule = Rule(rawValue: rule) else { return nil }
        return PolicyReason(
            rule: rule, setting: setting, value: value, policy: policy,
            message: Texts.gateItIsNotKnownWhichApp(message: message),
            remedy: Texts.gateOrAskAdministratorToNameIts(remedy: remedy), verdict: .block)
    }
}

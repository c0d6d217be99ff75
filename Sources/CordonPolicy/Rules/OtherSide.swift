internal import CordonIdentity

/// What the other side of a transfer says: two policies decide, and either may refuse (SDK-DT-03).
enum OtherSide {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ set: borrowing PolicySet, _ own: PolicyResolution, to findings: inout C
    ) {
        switch question.action {
        case .send, .receive, .receiveItem, .copy, .paste:
            if question.action == .receiveItem, case .unrestricted = own, !set.demands.isEmpty {
                ItemNotLoadedRule.apply(question, nil, to: &findings)
            }
            peer(question, set, own, to: &findings)
        case .saveTo, .openFrom: place(question, set, own, to: &findings)
        default: return
        }
    }

    /// The account that is active in the other app.
    private static func peer<C: FindingCollector>(
        _ question: borrowing Question, _ set: borrowing PolicySet, _ own: PolicyResolution, to findings: inout C
    ) {
        guard let app = question.peer?.app else {
            if set.demands.contains(demand(of: question.action)), case .unrestricted = own {
                findings.missing("peer", for: rule(of: question.action))
            }
            return
        }
        guard app == .managed, case .managed(let account)? = question.peer?.account else { return }
        switch set.resolution(ofManaged: account ?? AccountID("")) {
        case .governed(let policy):
            if policy.isDamaged { Evaluation.report(damaged: policy, to: &findings) }
            let relation = relation(of: question, to: account)
            switch question.action {
            case .send: IncomingRule.judge(relation, policy, to: &findings)
            case .receive, .receiveItem: OutgoingRule.judge(relation, policy, to: &findings)
            case .copy: ClipboardInRule.judge(relation, policy, to: &findings)
            default: ClipboardOutRule.judge(relation, question.characters, policy, to: &findings)
            }
        case .unknown, .lost, .unrestricted:
            findings.report(.block, .policyUnknown, "", of: nil, Evaluation.policyUnknown)
        }
    }

    /// How this side looks to the other: an unmanaged web view belongs to no account (SDK-WV-03).
    private static func relation(of question: borrowing Question, to account: AccountID?) -> Relation {
        if question.action == .copy || question.action == .paste, WebViewRules.isUnmanaged(question) {
            return .unmanaged
        }
        return Relation(of: question.owner, to: account)
    }

    /// What some policy must ask of the other side for the action to need it named.
    static func demand(of action: Action) -> PolicySet.Demands {
        switch action {
        case .send: .inbound
        case .copy: .pasteIn
        case .paste: .copyOut
        default: .outbound
        }
    }

    private static func rule(of action: Action) -> Rule {
        switch action {
        case .send: .incoming
        case .copy: .clipboardIn
        case .paste: .clipboardOut
        default: .outgoing
        }
    }

    /// The account that owns the place. Its own data is no transfer.
    private static func place<C: FindingCollector>(
        _ question: borrowing Question, _ set: borrowing PolicySet, _ own: PolicyResolution, to findings: inout C
    ) {
        // An only account is the owner here, and its own data is no transfer.
        if set.hasOneAccount, question.coVisibleIdentities.isEmpty, case .governed = own { return }
        guard let location = question.location, let account = question.locationAccount, !account.rawValue.isEmpty,
            !location.belongsToNobody, account != question.owner?.account
        else { return }
        switch set.resolution(ofPlace: location, account: account) {
        case .governed(let policy):
            if policy.isDamaged { Evaluation.report(damaged: policy, to: &findings) }
            let relation = Relation(of: question.owner, to: account)
            if question.action == .saveTo {
                IncomingRule.judge(relation, policy, to: &findings)
            } else {
                OutgoingRule.judge(relation, policy, to: &findings)
            }
        case .unknown: findings.report(.block, .policyUnknown, "", of: nil, Evaluation.policyUnknown)
        case .lost, .unrestricted: return
        }
    }
}

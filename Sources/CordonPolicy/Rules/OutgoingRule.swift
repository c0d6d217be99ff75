internal import CordonBase
internal import CordonIdentity

/// What the owner of data lets out (SDK-DT-22, SRV-RS-024).
enum OutgoingRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        let relation = question.parties.relation
        if case .exempt = relation, policy.transfer.outbound == .managedApps, isListed(question.url, policy) {
            // The URL is how the data gets there, so it is judged as opening that URL: numbers, messages and web links
            // have settings of their own.
            findings.consider(.outgoing, policy)
            URLRule.apply(question, policy, to: &findings)
            return
        }
        judge(relation, policy, to: &findings)
    }

    /// Whether the administrator exempted the scheme by which the other app is reached (SRV-RS-088).
    private static func isListed(_ url: String?, _ policy: PolicyInForce) -> Bool {
        guard let url, let scheme = URLRule.scheme(of: url) else { return false }
        return policy.transfer.exemptSchemes.contains(scheme)
    }

    static func judge<C: FindingCollector>(_ relation: Relation, _ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.outgoing, policy)
        switch policy.transfer.outbound {
        case .allApps: return
        case .none:
            findings.report(
                .block, .outgoing, "allowedOutboundDataTransferDestinations", of: policy,
                Wording(Texts.denialOrganisationDataMayNotBeSent, Texts.denialKeepDataInThisApp))
        case .managedApps:
            switch relation {
            case .sameAccount: return
            case .unclear:
                findings.missing(
                    relation.missingField ?? "peer", for: .outgoing, "allowedOutboundDataTransferDestinations",
                    of: policy)
            case .exempt:
                findings.report(
                    .block, .outgoing, "exemptedAppProtocols", of: policy,
                    Wording(
                        Texts.denialOrganisationDataReachesExemptedAppOnly,
                        Texts.denialOpenSuchURLOrChooseManaged))
            case .otherAccount, .unmanaged:
                findings.report(
                    .block, .outgoing, "allowedOutboundDataTransferDestinations", of: policy,
                    Wording(
                        Texts.denialOrganisationDataMayBeSentOnly,
                        Texts.denialChooseManagedAppInWhichThis))
            }
        }
    }
}

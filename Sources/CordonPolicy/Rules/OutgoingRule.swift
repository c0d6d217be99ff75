internal import CordonIdentity

/// What the owner of data lets out (SDK-DT-22, SRV-RS-024).
enum OutgoingRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        judge(Relation(ofPeerIn: question), policy, to: &findings)
    }

    static func judge<C: FindingCollector>(_ relation: Relation, _ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.outgoing, policy)
        switch policy.transfer.outbound {
        case .allApps: return
        case .none:
            findings.report(
                .block, .outgoing, "allowedOutboundDataTransferDestinations", of: policy,
                Wording("Organisation data may not be sent to any other app.", "Keep the data in this app."))
        case .managedApps:
            switch relation {
            case .sameAccount, .exempt: return
            case .unclear:
                findings.missing(
                    relation.missingField ?? "peer", for: .outgoing, "allowedOutboundDataTransferDestinations",
                    of: policy)
            case .otherAccount, .unmanaged:
                findings.report(
                    .block, .outgoing, "allowedOutboundDataTransferDestinations", of: policy,
                    Wording(
                        "Organisation data may be sent only to managed apps with the same work account.",
                        "Choose a managed app in which this account is signed in."))
            }
        }
    }
}

internal import CordonBase
internal import CordonIdentity

/// What the receiver of data lets in (SDK-DT-24, SDK-DT-25, SRV-RS-023).
enum IncomingRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        judge(question.parties.relation, policy, to: &findings)
    }

    static func judge<C: FindingCollector>(_ relation: Relation, _ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.incoming, policy)
        switch policy.transfer.inbound {
        case .allApps: return
        case .none:
            findings.report(
                .block, .incoming, "allowedInboundDataTransferSources", of: policy,
                Wording(Texts.denialThisWorkAccountTakesDataFrom, Texts.denialCreateDataInThisApp))
        case .managedApps:
            switch relation {
            case .sameAccount: return
            case .unclear:
                findings.missing(
                    relation.missingField ?? "peer", for: .incoming, "allowedInboundDataTransferSources", of: policy)
            case .otherAccount, .unmanaged, .exempt:
                findings.report(
                    .block, .incoming, "allowedInboundDataTransferSources", of: policy,
                    Wording(
                        Texts.denialThisWorkAccountTakesDataOnly,
                        Texts.denialSendItFromManagedAppOr))
            }
        }
    }
}

/// An item whose data is not loaded has no known owner yet (SDK-DT-18).
enum ItemNotLoadedRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce?, to findings: inout C
    ) {
        findings.consider(.itemNotLoaded, policy)
        guard let loaded = question.loaded else {
            findings.missing("loaded", for: .itemNotLoaded, of: policy)
            return
        }
        if !loaded {
            findings.report(
                .block, .itemNotLoaded, "", of: policy,
                Wording(Texts.denialItemIsNotLoadedSoIts, Texts.denialLoadItemThenAskAgain))
        }
    }
}

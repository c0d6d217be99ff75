internal import CordonBase
internal import CordonIdentity

/// Cutting and copying out (SRV-RS-026, SRV-RS-027).
enum ClipboardOutRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        // What stands in an unmanaged web view is no organisation's data (SDK-WV-03).
        if WebViewRules.isUnmanaged(question) { return }
        judge(question.parties.relation, question.characters, policy, to: &findings)
    }

    static func judge<C: FindingCollector>(
        _ relation: Relation, _ characters: Int?, _ policy: PolicyInForce, to findings: inout C
    ) {
        findings.consider(.clipboardOut, policy)
        switch policy.transfer.clipboard {
        case .allApps: return
        case .managedApps, .managedAppsWithPasteIn:
            switch relation {
            case .sameAccount: return
            case .unclear where policy.transfer.clipboardExceptionLength == 0:
                findings.missing(
                    relation.missingField ?? "peer", for: .clipboardOut, "allowedOutboundClipboardSharingLevel",
                    of: policy)
            default: refuse(characters, policy, to: &findings)
            }
        case .blocked: refuse(characters, policy, to: &findings)
        }
    }

    private static func refuse<C: FindingCollector>(_ characters: Int?, _ policy: PolicyInForce, to findings: inout C) {
        let limit = policy.transfer.clipboardExceptionLength
        if limit > 0 {
            guard let characters else {
                findings.report(
                    .restrict, .clipboardOut, "allowedOutboundClipboardSharingExceptionLength", of: policy,
                    Wording(
                        Texts.denialOnlyTextsOfUpToCharacters(limit: limit),
                        Texts.denialCopyAtMostCharacters(limit: limit)))
                return
            }
            if characters >= 0 && characters <= limit { return }
        }
        findings.report(
            .block, .clipboardOut, "allowedOutboundClipboardSharingLevel", of: policy,
            Wording(
                policy.transfer.clipboard == .blocked
                    ? Texts.denialOrganisationTextMayNotBeCopied
                    : Texts.denialOrganisationTextMayBePastedOnly,
                limit > 0 ? Texts.denialCopyAtMostCharacters(limit: limit) : Texts.denialPasteItInSameWorkAccount))
    }
}

/// Pasting in (SRV-RS-023, SRV-RS-026).
enum ClipboardInRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        // An unmanaged web view does not take for the account (SDK-WV-03).
        if WebViewRules.isUnmanaged(question) { return }
        judge(question.parties.relation, policy, to: &findings)
    }

    static func judge<C: FindingCollector>(_ relation: Relation, _ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.clipboardIn, policy)
        if policy.transfer.inbound == .none {
            findings.report(
                .block, .clipboardIn, "allowedInboundDataTransferSources", of: policy,
                Wording(Texts.denialThisWorkAccountTakesDataFrom, Texts.denialTypeTextHere))
        }
        switch policy.transfer.clipboard {
        case .allApps, .managedAppsWithPasteIn: return
        case .blocked:
            findings.report(
                .block, .clipboardIn, "allowedOutboundClipboardSharingLevel", of: policy,
                Wording(Texts.denialNothingMayBePastedFromOther, Texts.denialTypeTextHere))
        case .managedApps:
            switch relation {
            case .sameAccount: return
            case .unclear:
                findings.missing(
                    relation.missingField ?? "peer", for: .clipboardIn, "allowedOutboundClipboardSharingLevel",
                    of: policy)
            case .otherAccount, .unmanaged, .exempt:
                findings.report(
                    .block, .clipboardIn, "allowedOutboundClipboardSharingLevel", of: policy,
                    Wording(
                        Texts.denialOnlyTextFromManagedAppsWith,
                        Texts.denialCopyItInManagedApp))
            }
        }
    }
}

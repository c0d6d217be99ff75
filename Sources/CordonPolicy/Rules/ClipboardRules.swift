internal import CordonIdentity

/// Cutting and copying out (SRV-RS-026, SRV-RS-027).
enum ClipboardOutRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        // What stands in an unmanaged web view is nobody's organisation data (SDK-WV-03).
        if WebViewRules.isUnmanaged(question) { return }
        judge(Relation(ofPeerIn: question), question.characters, policy, to: &findings)
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
                        "Only texts of up to \(limit) characters may be copied out.",
                        "Copy at most \(limit) characters."))
                return
            }
            if characters >= 0 && characters <= limit { return }
        }
        findings.report(
            .block, .clipboardOut, "allowedOutboundClipboardSharingLevel", of: policy,
            Wording(
                policy.transfer.clipboard == .blocked
                    ? "Organisation text may not be copied out of this app."
                    : "Organisation text may be pasted only into managed apps with the same work account.",
                limit > 0 ? "Copy at most \(limit) characters." : "Paste it in the same work account."))
    }
}

/// Pasting in (SRV-RS-023, SRV-RS-026).
enum ClipboardInRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        // An unmanaged web view does not take for the account (SDK-WV-03).
        if WebViewRules.isUnmanaged(question) { return }
        judge(Relation(ofPeerIn: question), policy, to: &findings)
    }

    static func judge<C: FindingCollector>(_ relation: Relation, _ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.clipboardIn, policy)
        if policy.transfer.inbound == .none {
            findings.report(
                .block, .clipboardIn, "allowedInboundDataTransferSources", of: policy,
                Wording("This work account takes data from no other app.", "Type the text here."))
        }
        switch policy.transfer.clipboard {
        case .allApps, .managedAppsWithPasteIn: return
        case .blocked:
            findings.report(
                .block, .clipboardIn, "allowedOutboundClipboardSharingLevel", of: policy,
                Wording("Nothing may be pasted from other apps into organisation data.", "Type the text here."))
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
                        "Only text from managed apps with the same work account may be pasted here.",
                        "Copy it in a managed app."))
            }
        }
    }
}

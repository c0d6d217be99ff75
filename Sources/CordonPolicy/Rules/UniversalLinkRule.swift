internal import CordonBase

/// Opening a universal link in the app that claims it (SDK-DT-26, SRV-RS-089, SRV-RS-090).
enum UniversalLinkRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        findings.consider(.universalLink, policy)
        guard let url = question.url, !url.isEmpty else {
            findings.missing("url", for: .universalLink, "exemptedUniversalLinks", of: policy)
            return
        }
        guard let link = Link(url) else {
            findings.report(
                .block, .universalLink, "", of: policy,
                Wording(Texts.denialLinkHasNoHost, Texts.denialGiveCompleteLinkSuchAsHttps))
            return
        }
        if policy.transfer.outbound == .none {
            findings.report(
                .block, .universalLink, "allowedOutboundDataTransferDestinations", of: policy,
                Wording(Texts.denialOrganisationDataMayOpenNoOther, Texts.denialKeepDataInThisApp))
            return
        }
        if policy.exemptLinks.contains(link) { return }
        let isRestricted = policy.transfer.outbound == .managedApps
        guard isRestricted || policy.transfer.managedBrowserRequired else { return }
        if AppKind.isManaged(question.peer) { return }
        if policy.managedLinks.contains(link) {
            findings.report(
                .restrict, .universalLink, "managedUniversalLinks", of: policy,
                Wording(Texts.denialThisLinkOpensInItsManaged, Texts.denialOpenItThere))
        } else if isRestricted {
            findings.report(
                .restrict, .universalLink, "allowedOutboundDataTransferDestinations", of: policy,
                Wording(Texts.denialThisLinkMayNotOpenUnmanaged, Texts.denialOpenItAsWebPage))
        } else {
            findings.report(
                .restrict, .universalLink, "managedBrowserToOpenLinksRequired", of: policy,
                Wording(Texts.denialWebLinksOpenInManagedBrowser, Texts.denialOpenLinkThere))
        }
    }
}

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
                Wording("The link has no host.", "Give a complete link, such as https://example.com/page."))
            return
        }
        if policy.transfer.outbound == .none {
            findings.report(
                .block, .universalLink, "allowedOutboundDataTransferDestinations", of: policy,
                Wording("Organisation data may open no other app.", "Keep the data in this app."))
            return
        }
        if policy.exemptLinks.contains(link) { return }
        let isRestricted = policy.transfer.outbound == .managedApps
        guard isRestricted || policy.transfer.managedBrowserRequired else { return }
        if AppKind.isManaged(question.peer) { return }
        if policy.managedLinks.contains(link) {
            findings.report(
                .restrict, .universalLink, "managedUniversalLinks", of: policy,
                Wording("This link opens in its managed app only.", "Open it there."))
        } else if isRestricted {
            findings.report(
                .restrict, .universalLink, "allowedOutboundDataTransferDestinations", of: policy,
                Wording("This link may not open an unmanaged app.", "Open it as a web page."))
        } else {
            findings.report(
                .restrict, .universalLink, "managedBrowserToOpenLinksRequired", of: policy,
                Wording("Web links open in the managed browser only.", "Open the link there."))
        }
    }
}

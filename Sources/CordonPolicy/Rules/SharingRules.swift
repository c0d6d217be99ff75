/// Sharing as such, App Clips and web extensions (SDK-EX-01, SDK-EX-02).
enum SharingRules {
    static func apply<C: FindingCollector>(_ action: Action, _ policy: PolicyInForce, to findings: inout C) {
        switch action {
        case .share:
            findings.consider(.outgoing, policy)
            if policy.transfer.outbound == .none {
                findings.report(
                    .block, .outgoing, "allowedOutboundDataTransferDestinations", of: policy,
                    Wording("Organisation data may not be shared at all.", "Keep the data in this app."))
            }
        case .webExtension:
            findings.consider(.webExtension, policy)
            if policy.transfer.outbound != .allApps {
                findings.report(
                    .block, .webExtension, "allowedOutboundDataTransferDestinations", of: policy,
                    Wording(
                        "A web extension lives in a browser that is not managed, so it gets no organisation data.",
                        "Use the app itself."))
            }
        default:
            findings.consider(.appClip, policy)
            findings.report(
                .block, .appClip, "", of: policy,
                Wording("An App Clip is an unmanaged place and shows no organisation data.", "Use the full app."))
        }
    }
}

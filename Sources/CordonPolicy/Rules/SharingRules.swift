internal import CordonBase

/// Sharing as such, App Clips and web extensions (SDK-EX-01, SDK-EX-02).
enum SharingRules {
    static func apply<C: FindingCollector>(_ action: Action, _ policy: PolicyInForce, to findings: inout C) {
        switch action {
        case .share:
            findings.consider(.outgoing, policy)
            if policy.transfer.outbound == .none {
                findings.report(
                    .block, .outgoing, "allowedOutboundDataTransferDestinations", of: policy,
                    Wording(Texts.denialOrganisationDataMayNotBeShared, Texts.denialKeepDataInThisApp))
            }
        case .webExtension:
            findings.consider(.webExtension, policy)
            if policy.transfer.outbound != .allApps {
                findings.report(
                    .block, .webExtension, "allowedOutboundDataTransferDestinations", of: policy,
                    Wording(
                        Texts.denialWebExtensionLivesInBrowserThat,
                        Texts.denialUseAppItself))
            }
        default:
            findings.consider(.appClip, policy)
            findings.report(
                .block, .appClip, "", of: policy,
                Wording(Texts.denialAppClipIsUnmanagedPlaceAnd, Texts.denialUseFullApp))
        }
    }
}

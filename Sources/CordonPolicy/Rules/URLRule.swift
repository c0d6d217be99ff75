internal import CordonBase
internal import CordonIdentity

/// Opening a URL (SDK-DT-26, SDK-PO-02, SRV-RS-031, 040, 041, 088).
enum URLRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        guard let url = question.url, !url.isEmpty else {
            findings.consider(.urlScheme, policy)
            findings.missing("url", for: .urlScheme, "allowedOutboundDataTransferDestinations", of: policy)
            return
        }
        guard let scheme = scheme(of: url) else {
            findings.consider(.urlScheme, policy)
            findings.report(
                .block, .urlScheme, "", of: policy,
                Wording(Texts.denialUrlHasNoReadableScheme, Texts.denialGiveCompleteURLSuchAsHttps))
            return
        }
        switch scheme {
        case "http", "https": web(policy, to: &findings)
        case "tel", "telprompt": dial(question.peer, policy, to: &findings)
        case "sms": message(question.peer, policy, to: &findings)
        default: other(scheme, question.peer, policy, to: &findings)
        }
    }

    /// The scheme in lower case (RFC 3986, section 3.1); nil when there is none.
    static func scheme(of url: String) -> String? {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = url[..<colon]
        guard let first = scheme.utf8.first, isLetter(first),
            scheme.utf8.allSatisfy({
                isLetter($0) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
            })
        else { return nil }
        return scheme.lowercased()
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A }

    private static func web<C: FindingCollector>(_ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.webLink, policy)
        guard policy.transfer.managedBrowserRequired else { return }
        findings.report(
            .restrict, .webLink, "managedBrowserToOpenLinksRequired", of: policy,
            Wording(Texts.denialWebLinksOpenInManagedBrowser, Texts.denialOpenLinkThere))
    }

    private static func dial<C: FindingCollector>(_ peer: Peer?, _ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.dialer, policy)
        switch policy.transfer.dialer {
        case .allApps: return
        case .managedApps where peer?.app == .managed: return
        case .managedApps where peer == nil:
            findings.report(
                .restrict, .dialer, "dialerRestrictionLevel", of: policy,
                Wording(Texts.denialNumbersAreDialledByManagedApps, Texts.denialChooseManagedDialer))
        case .customApp where peer == nil || peer?.app == .managed:
            findings.report(
                .restrict, .dialer, "customDialerAppProtocol", of: policy,
                Wording(Texts.denialNumbersAreDialledByOneApp, Texts.denialOpenNumberWithThatAppURL))
        case .blocked, .customApp, .managedApps:
            findings.report(
                .block, .dialer, "dialerRestrictionLevel", of: policy,
                Wording(Texts.denialNumbersInOrganisationDataMayNot, Texts.denialDialByHand))
        }
    }

    private static func message<C: FindingCollector>(_ peer: Peer?, _ policy: PolicyInForce, to findings: inout C) {
        findings.consider(.messaging, policy)
        switch policy.transfer.messaging {
        case .anyApp: return
        case .anyManagedApp where peer?.app == .managed: return
        case .anyManagedApp where peer == nil:
            findings.report(
                .restrict, .messaging, "protectedMessagingRedirectAppType", of: policy,
                Wording(Texts.denialMessagesAreSentByManagedApps, Texts.denialChooseManagedMessagingApp))
        case .specificApps where peer == nil || peer?.app == .managed:
            findings.report(
                .restrict, .messaging, "messagingRedirectAppUrlScheme", of: policy,
                Wording(Texts.denialMessagesAreSentByOneApp, Texts.denialOpenMessageWithThatAppURL))
        case .blocked, .specificApps, .anyManagedApp:
            findings.report(
                .block, .messaging, "protectedMessagingRedirectAppType", of: policy,
                Wording(Texts.denialOrganisationDataMayNotBeSentAs, Texts.denialUseWorkMail))
        }
    }

    private static func other<C: FindingCollector>(
        _ scheme: String, _ peer: Peer?, _ policy: PolicyInForce, to findings: inout C
    ) {
        findings.consider(.urlScheme, policy)
        switch policy.transfer.outbound {
        case .allApps: return
        case .managedApps:
            if policy.transfer.exemptSchemes.contains(scheme) || AppKind.isManaged(peer) { return }
            findings.report(
                .block, .urlScheme, "allowedOutboundDataTransferDestinations", of: policy,
                Wording(
                    Texts.denialSchemeOpensAppThatIsNot(scheme: scheme),
                    Texts.denialOpenItInManagedAppOr))
        case .none:
            findings.report(
                .block, .urlScheme, "allowedOutboundDataTransferDestinations", of: policy,
                Wording(Texts.denialOrganisationDataMayOpenNoOther, Texts.denialKeepDataInThisApp))
        }
    }
}

/// Whether the app that a URL opens is managed, as far as the question says.
enum AppKind {
    static func isManaged(_ peer: Peer?) -> Bool {
        guard let peer, peer.app == .managed else { return false }
        return peer.account != .unmanaged
    }
}

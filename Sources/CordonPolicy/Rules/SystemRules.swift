internal import CordonBase

/// What the system itself would do with organisation data: assistants, search, contacts, widgets, input.
enum SystemRules {
    static func apply<C: FindingCollector>(_ action: Action, _ policy: PolicyInForce, to findings: inout C) {
        switch action {
        case .siriIntent, .appIntent, .indexSpotlight: assist(action, policy, to: &findings)
        case .syncContacts:
            findings.consider(.contacts, policy)
            guard policy.transfer.contactSyncBlocked else { return }
            findings.report(
                .block, .contacts, "contactSyncBlocked", of: policy,
                Wording(Texts.denialOrganisationContactsStayOutOfAddress, Texts.denialLookThemUpInApp))
        case .showWidget:
            findings.consider(.widgets, policy)
            guard !policy.transfer.widgetContentAllowed else { return }
            findings.report(
                .block, .widgets, "allowWidgetContentSync", of: policy,
                Wording(Texts.denialWidgetsShowNoOrganisationData, Texts.denialOpenAppToSeeIt))
        case .useGenmoji:
            findings.consider(.genmoji, policy)
            guard policy.transfer.genmoji == .blocked else { return }
            findings.report(
                .block, .genmoji, "genmojiConfigurationState", of: policy,
                Wording(Texts.denialImageGlyphsAreOffInOrganisation, Texts.denialUseOrdinaryEmoji))
        default:
            findings.consider(.writingTools, policy)
            guard policy.transfer.writingTools == .blocked else { return }
            findings.report(
                .block, .writingTools, "writingToolsConfigurationState", of: policy,
                Wording(Texts.denialSystemWritingToolsAreOffIn, Texts.denialEditTextByHand))
        }
    }

    /// SDK-SI-01…03, SRV-RS-024: assistants and search are apps like others, and not managed ones.
    private static func assist<C: FindingCollector>(_ action: Action, _ policy: PolicyInForce, to findings: inout C) {
        let rule: Rule = action == .indexSpotlight ? .spotlight : .systemIntelligence
        findings.consider(rule, policy)
        guard policy.transfer.outbound != .allApps else { return }
        findings.report(
            .block, rule, "allowedOutboundDataTransferDestinations", of: policy,
            Wording(
                action == .indexSpotlight
                    ? Texts.denialOrganisationDataIsKeptOutOf
                    : Texts.denialOrganisationDataAndActionsAreKept,
                Texts.denialUseAppItself))
    }
}

/// What a policy says for the whole app, personal accounts included (SRV-RS-091).
enum AppWideRules {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ set: borrowing PolicySet, to findings: inout C
    ) {
        guard question.action == .useKeyboard else { return }
        findings.consider(.keyboard, nil)
        for policy in set.appWide {
            if policy.isDamaged { Evaluation.report(damaged: policy, to: &findings) }
            judge(policy, to: &findings)
        }
    }

    /// What one policy says: those of accounts for the whole app, the lock-down for its page.
    static func judge<C: FindingCollector>(_ policy: PolicyInForce, to findings: inout C) {
        guard policy.transfer.thirdPartyKeyboardsBlocked else { return }
        findings.report(
            .block, .keyboard, "thirdPartyKeyboardsBlocked", of: policy,
            Wording(Texts.denialKeyboardsOfOtherMakersAreOff, Texts.denialUseSystemKeyboard))
    }
}

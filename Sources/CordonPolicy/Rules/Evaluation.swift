internal import CordonBase
internal import CordonIdentity

/// Puts a question to every rule that bears on it: the owner's side, the other side, the app's.
enum Evaluation {
    static func run<C: FindingCollector>(
        _ question: borrowing Question, in set: borrowing PolicySet, to findings: inout C
    ) {
        guard let resolution = set.resolution(of: question) else {
            findings.missing("owner", for: .policyUnknown)
            return
        }
        AppWideRules.apply(question, set, to: &findings)
        judge(question, set, resolution, &findings)
        if case .lost = resolution { return }
        // Whose data of a page is meant cannot be told: each account's is asked about.
        for case .managed(let account) in question.coVisibleIdentities {
            var beside = copy question
            beside.owner = .managed(account)
            judge(beside, set, resolution, &findings)
        }
    }

    /// The owner's side and the other side; of a page, the lock-down first and then the owner's own policy.
    private static func judge<C: FindingCollector>(
        _ question: borrowing Question, _ set: borrowing PolicySet, _ resolution: PolicyResolution,
        _ findings: inout C
    ) {
        apply(resolution, to: question, &findings)
        if let own = set.resolutionBesideLockDown(of: question) { apply(own, to: question, &findings) }
        OtherSide.apply(question, set, resolution, to: &findings)
    }

    private static func apply<C: FindingCollector>(
        _ resolution: PolicyResolution, to question: borrowing Question, _ findings: inout C
    ) {
        switch resolution {
        case .lost: findings.report(.block, .identityLost, "", of: nil, identityLost)
        case .unknown: findings.report(.block, .policyUnknown, "", of: nil, policyUnknown)
        case .governed(let policy):
            if policy.isDamaged { report(damaged: policy, to: &findings) }
            apply(policy, to: question, &findings)
        case .unrestricted: break
        }
    }

    /// The rules of the owner's own policy.
    @inline(__always)
    private static func apply<C: FindingCollector>(
        _ policy: PolicyInForce, to question: borrowing Question, _ findings: inout C
    ) {
        switch question.action {
        case .saveTo: SaveAsRule.apply(question, policy, to: &findings)
        case .openFrom: OpenFromRule.apply(question, policy, to: &findings)
        case .send: OutgoingRule.apply(question, policy, to: &findings)
        case .receive: IncomingRule.apply(question, policy, to: &findings)
        case .receiveItem:
            ItemNotLoadedRule.apply(question, policy, to: &findings)
            IncomingRule.apply(question, policy, to: &findings)
        case .copy: ClipboardOutRule.apply(question, policy, to: &findings)
        case .paste: ClipboardInRule.apply(question, policy, to: &findings)
        case .share, .webExtension, .appClip: SharingRules.apply(question.action, policy, to: &findings)
        case .openURL: URLRule.apply(question, policy, to: &findings)
        case .openUniversalLink: UniversalLinkRule.apply(question, policy, to: &findings)
        case .webUpload, .webPaste: WebViewRules.apply(question, policy, to: &findings)
        case .launch: LaunchRules.apply(question.device, policy, to: &findings)
        case .print, .notify, .captureScreen, .backUp, .encryptFile:
            OutputRules.apply(question.action, policy, to: &findings)
        case .siriIntent, .appIntent, .indexSpotlight, .syncContacts, .showWidget, .useGenmoji, .useWritingTools:
            SystemRules.apply(question.action, policy, to: &findings)
        case .useKeyboard: AppWideRules.judge(policy, to: &findings)
        }
        ContentEvaluationRule.apply(question, policy, to: &findings)
    }

    /// A policy with a critical setting that is not known denies everything, and so does one that cannot be read.
    static func report<C: FindingCollector>(damaged policy: PolicyInForce, to findings: inout C) {
        guard !policy.isUnreadable else {
            findings.report(.block, .policyUnknown, "", of: nil, policyUnknown)
            return
        }
        findings.consider(.policyCritical, policy)
        findings.report(
            .block, .policyCritical, "", of: policy,
            Wording(
                Texts.denialPolicyDemandsSomethingThisVersionDoes(
                    settings: policy.effective.policy.unknownCritical.sorted().joined(separator: ", ")),
                Texts.denialUpdateApp))
    }

    static var identityLost: Wording {
        Wording(
            Texts.denialItIsNotKnownForWhom,
            Texts.denialSetAccountForThisPieceOf)
    }

    static var policyUnknown: Wording {
        Wording(
            Texts.denialNoPolicyIsKnownForThis,
            Texts.denialCheckInWithServiceOrSign)
    }
}

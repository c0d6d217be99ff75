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
        switch resolution {
        case .lost:
            findings.report(.block, .identityLost, "", of: nil, identityLost)
        case .unknown:
            findings.report(.block, .policyUnknown, "", of: nil, policyUnknown)
        case .governed(let policy):
            if policy.isDamaged { report(damaged: policy, to: &findings) }
            apply(policy, to: question, &findings)
        case .unrestricted: break
        }
        switch set.resolutionBesideLockDown(of: question) {
        case .governed(let own)?:
            if own.isDamaged { report(damaged: own, to: &findings) }
            apply(own, to: question, &findings)
        case .unknown?: findings.report(.block, .policyUnknown, "", of: nil, policyUnknown)
        case .lost?, .unrestricted?, nil: break
        }
        OtherSide.apply(question, set, resolution, to: &findings)
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
        case .useKeyboard: break
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

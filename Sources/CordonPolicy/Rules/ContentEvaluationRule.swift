internal import CordonBase

/// An outside evaluator must agree before data is shared (SRV-RS-070).
enum ContentEvaluationRule {
    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        switch policy.transfer.contentEvaluation {
        case .notRequired: return
        case .requiredWhenOnline where question.device.online == false: return
        case .required, .requiredWhenOnline: break
        }
        switch question.action {
        case .saveTo, .send, .copy, .print, .webUpload, .webPaste: break
        default: return
        }
        findings.consider(.contentEvaluation, policy)
        switch question.contentEvaluation {
        case .permitted: return
        case .refused:
            findings.report(
                .block, .contentEvaluation, "purviewContentEvaluationRequired", of: policy,
                Wording(Texts.denialOrganisationContentCheckRefusedToShare, Texts.denialRemoveSensitivePart))
        case .unavailable, nil:
            findings.report(
                .block, .contentEvaluation, "purviewContentEvaluationRequired", of: policy,
                Wording(Texts.denialOrganisationContentCheckCouldNotBe, Texts.denialTryAgainWhenItCanBe))
        }
    }
}

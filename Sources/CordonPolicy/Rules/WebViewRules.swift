internal import CordonBase

/// Web views (SDK-WV-02…04).
enum WebViewRules {
    /// Whether the web view concerned is an unmanaged place: by its own policy, else by the app's setting.
    static func isUnmanaged(_ question: borrowing Question) -> Bool {
        switch question.viewer {
        case .unset: question.webViewersUnmanaged
        case .unmanaged: true
        case .currentIdentity, .currentIdentityWithoutUploadAndPaste: false
        }
    }

    static func apply<C: FindingCollector>(
        _ question: borrowing Question, _ policy: PolicyInForce, to findings: inout C
    ) {
        let rule: Rule = question.action == .webUpload ? .webUpload : .webPaste
        findings.consider(rule, policy)
        if question.viewer == .currentIdentityWithoutUploadAndPaste {
            findings.report(
                .block, rule, "", of: policy,
                Wording(Texts.denialThisPageTakesNoUploadsAnd, Texts.denialOpenPageInManagedBrowser))
        }
        guard isUnmanaged(question) else { return }
        if question.action == .webUpload {
            OutgoingRule.judge(.unmanaged, policy, to: &findings)
        } else {
            ClipboardOutRule.judge(.unmanaged, question.characters, policy, to: &findings)
        }
    }
}

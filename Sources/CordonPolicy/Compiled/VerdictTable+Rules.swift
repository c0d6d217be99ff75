internal import CordonIdentity

extension VerdictTable {
    /// Asks a policy's rules for every cell.
    init(_ policy: PolicyInForce) {
        copyLimit = policy.transfer.clipboardExceptionLength
        asksEvaluator = policy.transfer.contentEvaluation != .notRequired
        minimumVerdict = verdict(policy) { _ in }
        askAlone(policy)
        askPlaces(policy)
        askTransfers(policy)
        askWebViews(policy)
        askLinks(policy)
    }

    /// One verdict; a damaged policy denies whatever its rules say.
    private func verdict(_ policy: PolicyInForce, _ rules: (inout VerdictCollector) -> Void) -> Verdict {
        var collector = VerdictCollector()
        if policy.isDamaged { Evaluation.report(damaged: policy, to: &collector) }
        rules(&collector)
        return collector.verdict
    }

    private mutating func askAlone(_ policy: PolicyInForce) {
        for action in Action.allCases {
            let found: Verdict?
            switch action {
            case .share, .webExtension, .appClip:
                found = verdict(policy) { SharingRules.apply(action, policy, to: &$0) }
            case .notify, .captureScreen, .backUp, .encryptFile, .print:
                found = verdict(policy) { OutputRules.apply(action, policy, to: &$0) }
            case .siriIntent, .appIntent, .indexSpotlight, .syncContacts, .showWidget, .useGenmoji, .useWritingTools:
                found = verdict(policy) { SystemRules.apply(action, policy, to: &$0) }
            default: found = nil
            }
            if action.position < 16 { alone.0[action.position] = found } else { alone.1[action.position - 16] = found }
        }
    }

    private mutating func askPlaces(_ policy: PolicyInForce) {
        let own = AccountID("a")
        for location in Location.allCases.map(Optional.some) + [nil] {
            let position = location?.position ?? Location.positionOfNone
            func ask(_ action: Action, _ account: AccountID?) -> Verdict {
                var question = Question(action, owner: .managed(own))
                question.location = location
                question.locationAccount = account
                return verdict(policy) { findings in
                    if action == .saveTo {
                        SaveAsRule.apply(question, policy, to: &findings)
                    } else {
                        OpenFromRule.apply(question, policy, to: &findings)
                    }
                }
            }
            saving.none[position] = ask(.saveTo, nil)
            saving.own[position] = ask(.saveTo, own)
            saving.other[position] = ask(.saveTo, "b")
            opening.none[position] = ask(.openFrom, nil)
            opening.own[position] = ask(.openFrom, own)
            opening.other[position] = ask(.openFrom, "b")
        }
    }

    private mutating func askTransfers(_ policy: PolicyInForce) {
        for relation in [Relation.sameAccount, .otherAccount, .unmanaged, .exempt, .unclear(account: true)] {
            outgoing[relation.position] = verdict(policy) { OutgoingRule.judge(relation, policy, to: &$0) }
            incoming[relation.position] = verdict(policy) { IncomingRule.judge(relation, policy, to: &$0) }
            pasting[relation.position] = verdict(policy) { ClipboardInRule.judge(relation, policy, to: &$0) }
            for length in Length.allCases {
                copying[relation.position * 3 + length.rawValue] = verdict(policy) {
                    ClipboardOutRule.judge(relation, characters(length), policy, to: &$0)
                }
            }
        }
    }

    private mutating func askWebViews(_ policy: PolicyInForce) {
        for viewer in Viewer.allCases {
            for length in Length.allCases {
                func ask(_ action: Action) -> Verdict {
                    var question = Question(action, owner: nil)
                    question.characters = characters(length)
                    question.viewer =
                        switch viewer {
                        case .ofIdentity: .currentIdentity
                        case .unmanaged: .unmanaged
                        case .withoutUploadAndPaste: .currentIdentityWithoutUploadAndPaste
                        }
                    return verdict(policy) { WebViewRules.apply(question, policy, to: &$0) }
                }
                uploading[viewer.rawValue] = ask(.webUpload)
                webPasting[viewer.rawValue * 3 + length.rawValue] = ask(.webPaste)
            }
        }
    }

    private mutating func askLinks(_ policy: PolicyInForce) {
        for kind in LinkKind.allCases {
            for peer in [nil, Peer.personal, Peer.unmanagedApp] {
                var question = Question(.openURL, owner: nil)
                question.url = kind.rawValue + ":"
                question.peer = peer
                links[kind.position(to: peer?.app)] = verdict(policy) { URLRule.apply(question, policy, to: &$0) }
            }
        }
    }

    /// A text of that length.
    private func characters(_ length: Length) -> Int? {
        switch length {
        case .unknown: nil
        case .within: copyLimit
        case .beyond: copyLimit == .max ? -1 : copyLimit + 1
        }
    }
}

public import CordonIdentity
internal import CordonPolicy

extension AppProtection {
    /// What of all that a share sheet could offer may be shown for somebody's data (SDK-SX-01, SDK-SX-02); any thread.
    ///
    /// Where data may go to managed apps only, "Copy to" goes and "Open in" stays. It tells what the rules say, not whether
    /// anybody is there to take it (SDK-DT-28); a way out itself still takes a permit.
    public nonisolated func shareSheet(_ offered: [ShareTarget], for owner: Identity) -> ShareSheet {
        var shown: [ShareTarget] = []
        var hidden: [ShareTarget: PolicyDecision] = [:]
        for target in offered {
            let decision = decision(for: target.question(of: owner))
            if decision.verdict.permits { shown.append(target) } else { hidden[target] = decision }
        }
        return ShareSheet(shown: shown, hidden: hidden)
    }
}

extension ShareTarget {
    fileprivate func question(of owner: Identity) -> Question {
        let own: Peer = owner.account.map { .managed($0) } ?? .personal
        var question = Question(.send, owner: EffectiveIdentity(owner))
        switch kind {
        case .openIn, .managedApp: question.peer = own
        case .copyTo, .otherApp: question.peer = Peer(app: .unmanaged, account: .unmanaged, bundleID: id)
        case .print: question.action = .print
        case .clipboard:
            // Whether anything can be copied at all; how far it goes is asked when it is.
            question.action = .copy
            question.peer = own
        case .photos:
            question.action = .saveTo
            question.location = .cameraRoll
        case .files:
            question.action = .saveTo
            question.location = .other
        }
        return question
    }
}

internal import CordonIdentity

/// Answers a question from the compiled tables, where they suffice.
///
/// The same three parts as ``Evaluation``: the owner's side, the other side, the app's. Every cell was
/// worked out by the rules, and a test compares both over the whole policy table. Universal links are many: their one rule
/// is asked here.
extension PolicySet {
    /// The verdict; nil when the rules themselves must be asked.
    @inline(__always)
    func compiledVerdict(for question: borrowing Question) -> Verdict? {
        guard question.coVisibleIdentities.isEmpty else { return nil }
        var own: Int?
        switch question.parties.ownerNaming {
        case .absent: return .block
        case .managed, .managedUnnamed:
            guard let position = position(of: question.parties.ownerID) else { return .block }
            own = position
        case .lost: if hasPolicies { return .block }
        case .unmanaged, .none: break
        }
        switch question.action {
        case .saveTo, .openFrom: return place(question, own)
        case .send, .receive, .copy, .paste, .receiveItem: return transfer(question, own)
        case .useKeyboard: return keyboard
        case .webUpload, .webPaste, .openURL, .openUniversalLink, .launch:
            guard let own else { return .allow }
            return byContent(question, own)
        default:
            guard let own else { return .allow }
            if question.action == .print && table(own).asksEvaluator { return nil }
            let position = question.action.position
            return position < 16 ? table(own).alone.0[position] : table(own).alone.1[position - 16]
        }
    }

    private func byContent(_ question: borrowing Question, _ own: Int) -> Verdict? {
        if question.action == .openURL {
            guard let url = question.url, let kind = LinkKind(of: url) else { return nil }
            return table(own).links[kind.position(to: question.parties.app)]
        }
        if question.action == .openUniversalLink {
            guard let policy = policy(at: own) else { return nil }
            var collector = VerdictCollector()
            UniversalLinkRule.apply(question, policy, to: &collector)
            return max(collector.verdict, table(own).minimumVerdict)
        }
        guard question.action == .webUpload || question.action == .webPaste, !table(own).asksEvaluator else {
            return nil
        }
        let viewer = VerdictTable.Viewer(question).rawValue
        if question.action == .webUpload { return table(own).uploading[viewer] }
        let length = VerdictTable.Length(question.characters, limit: table(own).copyLimit).rawValue
        return table(own).webPasting[viewer &* 3 &+ length]
    }

    /// Saving and opening: the owner's policy, then that of the account whose place it is.
    private func place(_ question: borrowing Question, _ own: Int?) -> Verdict? {
        let position = question.location?.position ?? Location.positionOfNone
        let isSaving = question.action == .saveTo
        if let own, isSaving, table(own).asksEvaluator { return nil }
        guard question.parties.hasLocationAccount else {
            guard let own else { return .allow }
            return isSaving ? table(own).saving.none[position] : table(own).opening.none[position]
        }
        let isNamed = !question.parties.locationID.rawValue.isEmpty
        let isOwn = own != nil && question.parties.ownerID == question.parties.locationID
        var verdict = Verdict.allow
        if let own {
            let found =
                switch (isSaving, isOwn && isNamed) {
                case (true, true): table(own).saving.own[position]
                case (true, false): table(own).saving.other[position]
                case (false, true): table(own).opening.own[position]
                case (false, false): table(own).opening.other[position]
                }
            guard let found else { return nil }
            verdict = found
            if hasOneAccount { return verdict }
        }
        guard !isOwn, isNamed, let location = question.location, !location.belongsToNobody,
            let other = self.position(ofPlace: location, account: question.parties.locationID)
        else { return verdict }
        // Both are named and differ, or the owner is not managed at all.
        let relation: Relation =
            own == nil
            ? .unmanaged : question.parties.ownerID.rawValue.isEmpty ? .unclear(account: true) : .otherAccount
        let found = isSaving ? table(other).incoming[relation.position] : table(other).outgoing[relation.position]
        return found.map { max($0, verdict) }
    }

    /// Sending, receiving and the clipboard: the owner's policy, then that of the account in the other app.
    private func transfer(_ question: borrowing Question, _ own: Int?) -> Verdict? {
        let action = question.action
        var verdict = Verdict.allow
        if action == .receiveItem, question.loaded != true, own != nil || !demands.isEmpty { verdict = .block }
        let relation = question.parties.relation
        if let own {
            guard let found = ownSide(question, relation, own) else { return nil }
            verdict = max(verdict, found)
        }
        guard let app = question.parties.app else {
            return own == nil && demands.contains(OtherSide.demand(of: action)) ? .block : verdict
        }
        let naming = question.parties.peerNaming
        guard app == .managed, naming == .managed || naming == .managedUnnamed else { return verdict }
        let other: Int?
        if case .sameAccount = relation {
            other = own
        } else {
            other = position(of: question.parties.peerID)
        }
        guard let other else { return .block }
        let isUnmanaged = own == nil || (action == .copy || action == .paste) && WebViewRules.isUnmanaged(question)
        return otherSide(question, isUnmanaged ? .unmanaged : relation, other).map { max($0, verdict) }
    }

    @inline(__always)
    private func ownSide(_ question: borrowing Question, _ relation: Relation, _ own: Int) -> Verdict? {
        if table(own).asksEvaluator && (question.action == .send || question.action == .copy) { return nil }
        switch question.action {
        case .send:
            // Whether a URL's scheme is exempted is not in the table.
            if case .exempt = relation, question.url != nil { return nil }
            return table(own).outgoing[relation.position]
        case .copy:
            return WebViewRules.isUnmanaged(question) ? table(own).minimumVerdict : copying(question, relation, own)
        case .paste:
            return WebViewRules.isUnmanaged(question)
                ? table(own).minimumVerdict : table(own).pasting[relation.position]
        default: return table(own).incoming[relation.position]
        }
    }

    @inline(__always)
    private func otherSide(_ question: borrowing Question, _ relation: Relation, _ other: Int) -> Verdict? {
        switch question.action {
        case .send: table(other).incoming[relation.position]
        case .copy: table(other).pasting[relation.position]
        case .paste: copying(question, relation, other)
        default: table(other).outgoing[relation.position]
        }
    }

    @inline(__always)
    private func copying(_ question: borrowing Question, _ relation: Relation, _ policy: Int) -> Verdict? {
        let length = VerdictTable.Length(question.characters, limit: table(policy).copyLimit).rawValue
        return table(policy).copying[relation.position &* 3 &+ length]
    }
}

internal import CordonBase

/// Which actions a launch condition takes (SRV-RS-030, 047, 066, 068, 086, 087).
///
/// Every condition's setting is of one enumeration, ``RemediationAction``, but no condition takes all of its members.
enum ConditionActions: Sendable {
    /// It closes the data or removes it: a notice would let people go on.
    case blockOrWipe
    /// It closes the data or shows a notice: nothing is removed because a shift has ended.
    case blockOrWarn

    /// What is done when an action is asked for: `block` stands in for an action that is not taken, being the severest that
    /// destroys nothing which the policy did not ask to destroy.
    func applied(_ asked: RemediationAction) -> RemediationAction {
        switch (self, asked) {
        case (.blockOrWipe, .warn), (.blockOrWarn, .wipe): .block
        default: asked
        }
    }

    /// The stricter of two actions by what they amount to; of two that amount to the same, by their names, so that the
    /// order of the policies does not matter.
    func stricter(_ one: RemediationAction, _ two: RemediationAction) -> RemediationAction {
        let (first, second) = (applied(one).rank, applied(two).rank)
        return first == second ? one.stricter(two) : first < second ? one : two
    }

    /// What to say of an action that is not taken; nil for one that is.
    func objection(to asked: RemediationAction) -> String? {
        guard applied(asked) != asked else { return nil }
        return switch self {
        case .blockOrWipe: Texts.denialActionOfConditionThatWipes(action: asked.rawValue)
        case .blockOrWarn: Texts.denialActionOfConditionThatWarns(action: asked.rawValue)
        }
    }
}

/// What follows from a launch condition that is not met.
struct Consequence {
    private let asked: RemediationAction
    private let actions: ConditionActions

    /// What a policy asks for, of a condition that takes some actions.
    init(_ asked: RemediationAction, of actions: ConditionActions) {
        (self.asked, self.actions) = (asked, actions)
    }

    /// What is done.
    var action: RemediationAction { actions.applied(asked) }

    /// The verdict of the condition.
    var verdict: Verdict {
        switch action {
        case .wipe: .wipe
        case .block, .blockWhenSettingIsSupported: .block
        case .warn: .warn
        }
    }

    /// The wording of the reason, which also tells of an action that the condition does not take.
    func wording(_ message: String, _ repair: String) -> Wording {
        Wording(
            actions.objection(to: asked).map { Texts.denialPolicyActionDoesNotApply(message: message, why: $0) }
                ?? message,
            action == .wipe ? Texts.denialAccountOrganisationDataIsRemovedThen(repair: repair) : repair)
    }
}

internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import Logging

/// How Cordon asks a person on one occasion: its screens take the app's place first, and no question waits longer than the deadline.
struct InterfaceSession: Sendable {
    /// The account whose data it is about; nil for none.
    let account: AccountID?
    /// Why the person is asked.
    let occasion: LaunchOccasion
    /// What was asked so far, and how it was answered.
    var steps: [LaunchStep] = []
    private let screens: InterfaceScreens
    /// Cordon's screens are in front.
    private var hasTakenOver = false

    init(_ screens: InterfaceScreens, account: AccountID?, occasion: LaunchOccasion) {
        self.screens = screens
        self.account = account
        self.occasion = occasion
    }

    /// Asks the person; nil without an interface or without an answer in time, which is recorded as a step.
    nonisolated(nonsending) mutating func ask<Answer: Sendable>(
        _ kind: LaunchStep.Kind, _ question: @escaping @Sendable (any ProtectionInterface) async -> Answer
    ) async -> Answer? {
        guard screens.interface != nil else {
            steps.append(LaunchStep(kind, .unanswered))
            return nil
        }
        await takeOver()
        let answer = await screens.answer(question)
        if answer == nil {
            steps.append(LaunchStep(kind, .unanswered))
            screens.logger.warning(
                "a question to the person was not answered in time", metadata: ["question": "\(kind.rawValue)"])
        }
        return answer
    }

    /// Shows a notice and records how it was answered.
    nonisolated(nonsending) mutating func present(
        _ notice: ProtectionNotice, as kind: LaunchStep.Kind
    ) async -> NoticeAnswer {
        guard let answer = await ask(kind, { await $0.present(notice) }) else { return .cancel }
        let counted = notice.answers.contains(answer) ? answer : .cancel
        steps.append(LaunchStep(kind, counted == .cancel ? .cancelled : .done))
        return counted
    }

    /// Shows a notice that has only to be seen.
    nonisolated(nonsending) mutating func tell(_ notice: ProtectionNotice) async {
        guard screens.interface != nil else { return }
        await takeOver()
        _ = await screens.answer { await $0.present(notice) }
    }

    /// Shows how long the account may still be without contact.
    nonisolated(nonsending) mutating func show(_ countdown: OfflineCountdown) async {
        guard screens.interface != nil else { return }
        await takeOver()
        _ = await screens.answer { await $0.show(countdown) }
    }

    /// Covers the app's screens, once in a session; the first time the interface learns how Cordon's are to look. Runs to its end whatever
    /// becomes of the caller, as ``handBack()`` does: neither may overtake the other.
    nonisolated(nonsending) mutating func takeOver() async {
        guard screens.interface != nil, !hasTakenOver else { return }
        hasTakenOver = true
        if let account { screens.events.post(.gate(account: account, .tookOver)) }
        await Task { [screens, account, occasion] in await screens.takeOver(for: account, on: occasion) }.value
    }

    /// Gives the app its screen back.
    nonisolated(nonsending) mutating func handBack() async {
        guard screens.interface != nil, hasTakenOver else { return }
        hasTakenOver = false
        await Task { [screens, account] in _ = await screens.answer { await $0.handBack(for: account) } }.value
        if let account { screens.events.post(.gate(account: account, .handedBack)) }
    }
}

/// The person's interface as every occasion shares it: who is asked, for how long, and the look it was given.
final class InterfaceScreens: Sendable {
    let interface: (any ProtectionInterface)?
    let logger: Logger
    let events: EventBroadcaster
    private let deadline: Duration
    private let clock: ProtectionClock
    private let context: ProtectionContext
    /// The look that the interface was given, and what it could not show of it.
    private let look = Locked<(theme: ProtectionTheme?, refused: [String])>((nil, []))

    init(_ context: ProtectionContext) {
        interface = context.configuration.interface
        logger = context.configuration.logger
        events = context.events
        deadline = context.configuration.interfaceDeadline
        clock = context.configuration.clock
        self.context = context
    }

    /// What the interface could not show of the theme, one message each; empty before it was asked.
    var refusedTheme: [String] { look.withLock { $0.refused } }

    /// The answer of the interface; nil where there is none, or none in time.
    nonisolated(nonsending) func answer<Answer: Sendable>(
        _ question: @escaping @Sendable (any ProtectionInterface) async -> Answer
    ) async -> Answer? {
        guard let interface else { return nil }
        return await Deadline.answer(within: deadline, by: clock) { await question(interface) }
    }

    /// Covers the app's screens, and gives the interface its look where that is new.
    nonisolated(nonsending) func takeOver(for account: AccountID?, on occasion: LaunchOccasion) async {
        let theme = context.settings.theme
        let isNew = look.withLock { look in
            defer { look.theme = theme }
            return look.theme != theme
        }
        let refused = await answer { interface in
            let refused = isNew ? await interface.adopt(theme) : []
            await interface.takeOver(for: account, on: occasion)
            return refused
        }
        for message in refused ?? [] { logger.notice("a setting has no effect: \(message)") }
        if isNew { look.withLock { $0.refused = refused ?? [] } }
    }
}

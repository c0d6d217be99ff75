internal import CordonIdentity
internal import Logging

/// Asking through the interface: taken over first, never for longer than the deadline.
extension AppProtection {
    /// Asks; nil when there is nobody to ask or no answer in time, which is noted as a step.
    func ask<Answer: Sendable>(
        _ kind: LaunchStep.Kind, in passage: inout GatePassage,
        _ question: @escaping @Sendable (any ProtectionInterface) async -> Answer
    ) async -> Answer? {
        guard let interface = configuration.interface else {
            passage.steps.append(LaunchStep(kind, .unanswered))
            return nil
        }
        await takeOver(&passage)
        let answer = await Deadline.answer(within: configuration.interfaceDeadline, by: configuration.clock) {
            await question(interface)
        }
        if answer == nil {
            passage.steps.append(LaunchStep(kind, .unanswered))
            configuration.logger.warning(
                "a question to the person was not answered in time", metadata: ["question": "\(kind.rawValue)"])
        }
        return answer
    }

    /// Shows a notice and notes how it was answered.
    func present(
        _ notice: ProtectionNotice, as kind: LaunchStep.Kind, in passage: inout GatePassage
    ) async -> NoticeAnswer {
        guard let answer = await ask(kind, in: &passage, { await $0.present(notice) }) else { return .cancel }
        let counts = notice.answers.contains(answer) ? answer : .cancel
        passage.steps.append(LaunchStep(kind, counts == .cancel ? .cancelled : .done))
        return counts
    }

    /// Shows a notice that has only to be seen.
    func tell(_ notice: ProtectionNotice, _ passage: inout GatePassage) async {
        guard let interface = configuration.interface else { return }
        await takeOver(&passage)
        _ = await Deadline.answer(within: configuration.interfaceDeadline, by: configuration.clock) {
            await interface.present(notice)
        }
    }

    /// Covers the app's screens, once on every way; the first time the interface learns how Cordon's are to look.
    func takeOver(_ passage: inout GatePassage) async {
        guard let interface = configuration.interface, !passage.hasTakenOver else { return }
        passage.hasTakenOver = true
        let (account, occasion, theme) = (passage.account?.id, passage.occasion, settings.theme)
        if let account { broadcast.post(.gate(account: account, .tookOver)) }
        let isNew = adoptedTheme != theme
        adoptedTheme = theme
        let refused = await Deadline.answer(within: configuration.interfaceDeadline, by: configuration.clock) {
            let refused = isNew ? await interface.adopt(theme) : []
            await interface.takeOver(for: account, on: occasion)
            return refused
        }
        for message in refused ?? [] { configuration.logger.notice("a setting has no effect: \(message)") }
        if isNew { refusedLook = refused ?? [] }
    }

    /// Gives the app its screen back.
    func handBack(_ passage: inout GatePassage) async {
        guard let interface = configuration.interface, passage.hasTakenOver else { return }
        passage.hasTakenOver = false
        let account = passage.account?.id
        _ = await Deadline.answer(within: configuration.interfaceDeadline, by: configuration.clock) {
            await interface.handBack(for: account)
        }
        if let account { broadcast.post(.gate(account: account, .handedBack)) }
    }
}

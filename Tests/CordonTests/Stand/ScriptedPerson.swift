import Cordon
import CordonIdentity

/// A person who answers as a test says, and an account of everything that was asked.
actor ScriptedPerson: ProtectionInterface {
    enum Asked: Equatable {
        case tookOver(LaunchOccasion)
        case handedBack
        case pin(PINPrompt)
        case newPIN(NewPINPrompt)
        case signIn(SignInPrompt)
        case notice(ProtectionNotice)
        case countdown(OfflineCountdown)
    }

    private(set) var asked: [Asked] = []
    private(set) var theme: ProtectionTheme?
    var recognises: Biometry?
    /// Answers to come, first to last; when none is left, the last is given again.
    var pins: [PINAnswer] = [.entered("2580")]
    var newPINs: [NewPINAnswer] = [.chosen("2580")]
    var signIns: [SignInAnswer] = [.signedIn("oid-a")]
    var notices: [ProtectionNotice.Kind: [NoticeAnswer]] = [:]
    /// Called before a notice is answered.
    var beforeNotice: @Sendable (ProtectionNotice) async -> Void = { _ in }
    /// Called before a question for the PIN is answered, once.
    var beforePIN: (@Sendable () async -> Void)?
    /// Called before a question for a new PIN is answered, once.
    var beforeNewPIN: (@Sendable () async -> Void)?
    /// Called before the screen is given back, once.
    var beforeHandBack: (@Sendable () async -> Void)?
    /// What the interface says that it cannot show.
    var refuses: [String] = []
    /// Whether questions for the PIN are never answered; set to see that their task is cancelled.
    var isSilent = false
    private(set) var wasCancelled = false

    func set(_ change: @Sendable (isolated ScriptedPerson) -> Void) { change(self) }
    func forgetAsked() { asked = [] }

    var biometry: Biometry? { recognises }

    func adopt(_ theme: ProtectionTheme) -> [String] {
        self.theme = theme
        return refuses
    }

    func takeOver(for account: AccountID?, on occasion: LaunchOccasion) { asked.append(.tookOver(occasion)) }
    func show(_ countdown: OfflineCountdown) { asked.append(.countdown(countdown)) }

    func handBack(for account: AccountID?) async {
        let before = beforeHandBack
        beforeHandBack = nil
        await before?()
        asked.append(.handedBack)
    }

    func enterPIN(_ prompt: PINPrompt) async -> PINAnswer {
        asked.append(.pin(prompt))
        if isSilent {
            try? await Task.sleep(for: .seconds(3600))
            wasCancelled = Task.isCancelled
        }
        let before = beforePIN
        beforePIN = nil
        await before?()
        return pins.count > 1 ? pins.removeFirst() : pins[0]
    }

    func choosePIN(_ prompt: NewPINPrompt) async -> NewPINAnswer {
        asked.append(.newPIN(prompt))
        let before = beforeNewPIN
        beforeNewPIN = nil
        await before?()
        return newPINs.count > 1 ? newPINs.removeFirst() : newPINs[0]
    }

    func signIn(_ prompt: SignInPrompt) -> SignInAnswer {
        asked.append(.signIn(prompt))
        return signIns.count > 1 ? signIns.removeFirst() : signIns[0]
    }

    func present(_ notice: ProtectionNotice) async -> NoticeAnswer {
        asked.append(.notice(notice))
        await beforeNotice(notice)
        guard var left = notices[notice.kind], !left.isEmpty else { return notice.answers.last ?? .goOn }
        let answer = left.count > 1 ? left.removeFirst() : left[0]
        notices[notice.kind] = left
        return answer
    }

    var pinPrompts: [PINPrompt] { asked.compactMap { if case .pin(let prompt) = $0 { prompt } else { nil } } }

    func shown(_ kind: ProtectionNotice.Kind) -> [ProtectionNotice] {
        asked.compactMap { if case .notice(let notice) = $0, notice.kind == kind { notice } else { nil } }
    }
}

public import CordonIdentity
public import CordonPolicy

/// How Cordon asks a person and shows what it has to say. Everything that the launch gate wants goes through here.
///
/// Give one to ``ProtectionConfiguration/interface``: `TerminalInterface.standard()` of CordonTerminal, the screens of CordonScreens, or one of
/// the app's own. A call may take its time, but not for ever: what is not answered within
/// ``ProtectionConfiguration/interfaceDeadline`` counts as refused, and its task is cancelled. Calls come from any thread. Cordon asks and shows
/// things only between ``takeOver(for:on:)`` and ``handBack(for:)`` (SDK-CO-11), and a gate asks about an account one question at a
/// time. The countdown of a watched gate, and a denial that the app shows, may come meanwhile, between two such calls of their own.
public protocol ProtectionInterface: Sendable {
    /// The biometry that may replace the PIN on this device; nil where there is none, as on Linux.
    var biometry: Biometry? { get async }

    /// Adopts the app's look. Returns one message for each thing that it cannot show (SDK-ST-18…25).
    func adopt(_ theme: ProtectionTheme) async -> [String]

    /// Covers organisation data, because Cordon's screens replace the app's from here on.
    ///
    /// Called at every ``LaunchOccasion/launch``, where the splash screen stays at least for the theme's time
    /// (SDK-CL-06), and otherwise only when there is something to ask or to show. The account is nil when none is meant.
    func takeOver(for account: AccountID?, on occasion: LaunchOccasion) async

    /// Gives the app its screen back; called once for every take-over.
    func handBack(for account: AccountID?) async

    /// Asks for the PIN.
    func enterPIN(_ prompt: PINPrompt) async -> PINAnswer

    /// Asks for a new PIN. The interface has the person type it twice, and compares.
    func choosePIN(_ prompt: NewPINPrompt) async -> NewPINAnswer

    /// Has the person sign in afresh with the work account.
    func signIn(_ prompt: SignInPrompt) async -> SignInAnswer

    /// Shows a notice and waits for one of the answers it offers.
    func present(_ notice: ProtectionNotice) async -> NoticeAnswer

    /// Shows how long the app may still be without contact. It waits for no answer, and may stay after ``handBack(for:)``.
    func show(_ countdown: OfflineCountdown) async
}

/// A part of the body that a device recognises.
public enum Biometry: Sendable, Hashable {
    /// A finger.
    case finger
    /// A face.
    case face
}

/// A request for the PIN.
public struct PINPrompt: Sendable, Equatable {
    /// Whose PIN.
    public let account: ManagedAccount
    /// Whether it consists of digits alone, for the keyboard.
    public let digitsOnly: Bool
    /// How many guesses are left before the policy's action follows.
    public let attemptsLeft: Int
    /// Whether the guess before this one was wrong.
    public let lastWasWrong: Bool
    /// How long to wait before Cordon accepts a guess; it neither tries nor counts earlier ones.
    public let wait: Duration
    /// The biometry that will do instead; nil when only the PIN will do.
    public let biometry: Biometry?
    /// Whether the person may cancel (SDK-ST-15).
    public let canCancel: Bool
    /// Whether this asks for the PIN that the app had before it shared one with other apps (``ProtectionConfiguration/pinDirectory``): tell
    /// the person so. Cordon asks for it when nothing else opens the account's files.
    public let isFormer: Bool

    /// Makes a request, as Cordon does; an app makes one in the tests of its interface.
    public init(
        account: ManagedAccount, digitsOnly: Bool, attemptsLeft: Int, lastWasWrong: Bool, wait: Duration,
        biometry: Biometry?, canCancel: Bool, isFormer: Bool = false
    ) {
        self.account = account
        self.digitsOnly = digitsOnly
        self.attemptsLeft = attemptsLeft
        self.lastWasWrong = lastWasWrong
        self.wait = wait
        self.biometry = biometry
        self.canCancel = canCancel
        self.isFormer = isFormer
    }
}

/// What a person did about a request for the PIN.
public enum PINAnswer: Sendable, Equatable {
    /// Typed something.
    case entered(String)
    /// Was recognised by the device; counts only where the prompt offered it.
    case recognised(Biometry)
    /// Forgot it: a fresh sign-in and a new PIN follow.
    case forgotten
    /// Cancelled.
    case cancelled
}

/// A request for a new PIN.
public struct NewPINPrompt: Sendable, Equatable {
    /// Whose PIN.
    public let account: ManagedAccount
    /// Characters at least.
    public let minimumLength: Int
    /// What it is made of.
    public let characters: PINCharacterSet
    /// Whether runs such as 123 or 111 are refused.
    public let simpleIsBlocked: Bool
    /// Everything that was wrong with the previous choice.
    public let problems: [PINRequirements.Problem]
    /// Whether the person may cancel.
    public let canCancel: Bool

    /// Makes a request, as Cordon does; an app makes one in the tests of its interface.
    public init(
        account: ManagedAccount, minimumLength: Int, characters: PINCharacterSet, simpleIsBlocked: Bool,
        problems: [PINRequirements.Problem], canCancel: Bool
    ) {
        self.account = account
        self.minimumLength = minimumLength
        self.characters = characters
        self.simpleIsBlocked = simpleIsBlocked
        self.problems = problems
        self.canCancel = canCancel
    }
}

/// What a person did about a request for a new PIN.
public enum NewPINAnswer: Sendable, Equatable {
    /// Chose this one, and typed it twice.
    case chosen(String)
    /// Cancelled.
    case cancelled
}

/// A request for a fresh sign-in with the work account.
public struct SignInPrompt: Sendable, Equatable {
    /// Who is to sign in; another person does not count.
    public let account: ManagedAccount
    /// Why.
    public let message: String
    /// Whether the person may cancel.
    public let canCancel: Bool

    /// Makes a request, as Cordon does; an app makes one in the tests of its interface.
    public init(account: ManagedAccount, message: String, canCancel: Bool) {
        self.account = account
        self.message = message
        self.canCancel = canCancel
    }
}

/// How a fresh sign-in went.
public enum SignInAnswer: Sendable, Equatable {
    /// This account signed in, just now and with its credentials.
    case signedIn(AccountID)
    /// The person cancelled.
    case cancelled
    /// No sign-in is possible now. Say why, in whole sentences that follow another one; for example, that there is no network.
    case unavailable(String)
}

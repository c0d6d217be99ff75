public import CordonIdentity
internal import CordonPolicy

/// One of Cordon's screens, as a value: what it shows, what a person may do there, and what a screen reader says.
///
/// A view draws it and decides nothing. `TerminalInterface` of CordonTerminal prints the same values; `ScreenInterface` of CordonScreens hands them to views.
public struct GateScreen: Sendable, Equatable {
    /// Which screen it is.
    public enum Kind: Sendable, Hashable {
        /// Nothing but a cover over the app, as at start and in the app switcher.
        case cover
        /// A notice with its causes: managed, a warning, a block, data removed, sharing or printing refused.
        case notice(ProtectionNotice.Kind)
        /// A fresh sign-in is needed.
        case signIn
        /// The PIN is asked for.
        case pin
        /// A new PIN is chosen.
        case newPIN
        /// The new PIN is typed once more.
        case newPINAgain
        /// The organisation has to be reached soon.
        case countdown
    }

    /// A line of text with its part on the screen.
    public struct Line: Sendable, Hashable {
        /// What a line is for.
        public enum Role: Sendable, Hashable {
            /// Whose data it is about.
            case account
            /// What is the matter.
            case message
            /// What helps.
            case remedy
            /// What was wrong with an answer.
            case problem
        }

        /// What it is for.
        public let role: Role
        /// The text.
        public let text: String

        /// Makes a line.
        public init(_ role: Role, _ text: String) {
            self.role = role
            self.text = text
        }
    }

    /// A field that is typed in; what is typed is never shown.
    public struct Field: Sendable, Hashable {
        /// Its label, for sight and for a screen reader.
        public let label: String
        /// Whether digits alone are taken, for the keyboard.
        public let digitsOnly: Bool

        /// Makes a field.
        public init(label: String, digitsOnly: Bool) {
            self.label = label
            self.digitsOnly = digitsOnly
        }
    }

    /// Something that the person may do.
    public struct Button: Sendable, Hashable {
        /// What it does.
        public let action: GateAction
        /// Its label, for sight and for a screen reader.
        public let label: String
        /// Whether it is the one that the return key presses.
        public let isMain: Bool

        /// Makes a button.
        public init(_ action: GateAction, _ label: String, isMain: Bool = false) {
            self.action = action
            self.label = label
            self.isMain = isMain
        }
    }

    /// Which screen it is.
    public let kind: Kind
    /// Whose data it is about; nil when no account is meant.
    public let account: AccountID?
    /// The heading.
    public let title: String
    /// The lines below it, in order.
    public let lines: [Line]
    /// What is typed in; nil where nothing is.
    public let field: Field?
    /// What may be done, the main thing first; empty on a screen that only covers.
    public let buttons: [Button]
    /// How long Cordon ignores what is typed; zero if there is no wait.
    public let wait: Duration
    /// How it looks; the system's look until an interface gives it the app's.
    public var theme = ProtectionTheme()

    /// Makes a screen.
    public init(
        _ kind: Kind, account: AccountID?, title: String, lines: [Line] = [], field: Field? = nil,
        buttons: [Button] = [], wait: Duration = .zero
    ) {
        self.kind = kind
        self.account = account
        self.title = title
        self.lines = lines
        self.field = field
        self.buttons = buttons
        self.wait = wait
    }

    /// What a screen reader says when the screen appears: the heading and every line, as sentences in order.
    public var announcement: String {
        ([title] + lines.map(\.text)).map { text in
            text.last.map { ".!?:".contains($0) } ?? true ? text : text + "."
        }.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Whether the person has to do something before the screen goes.
    public var wantsAnswer: Bool { !buttons.isEmpty }

    /// The same screen with a new problem: what was wrong with the answer just given.
    public func noting(_ problem: String) -> GateScreen {
        var screen = GateScreen(
            kind, account: account, title: title,
            lines: lines.filter { $0.role != .problem } + [Line(.problem, problem)], field: field, buttons: buttons,
            wait: wait)
        screen.theme = theme
        return screen
    }
}

/// What a person does on a ``GateScreen``.
public enum GateAction: Sendable, Hashable {
    /// Hands in what was typed.
    case submit
    /// Has the device recognise the person instead of the PIN.
    case recognise
    /// Says that the PIN is forgotten.
    case forgotPIN
    /// Begins the sign-in.
    case signIn
    /// Answers a notice.
    case answer(NoticeAnswer)
    /// Cancels.
    case cancel
}

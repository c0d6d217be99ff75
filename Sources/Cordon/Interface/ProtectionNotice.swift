internal import CordonBase
public import CordonIdentity
public import CordonPolicy

/// Something that Cordon has to tell a person, with its causes and what helps.
public struct ProtectionNotice: Sendable, Equatable {
    /// What the notice is about.
    public enum Kind: Sendable, Hashable {
        /// The organisation manages this account's data in the app from now on (SDK-CL-10).
        case managed
        /// A condition that is worth a warning; the person may go on.
        case warning
        /// The account's data stays closed.
        case blocked
        /// The account's data was removed.
        case removed
        /// Something may not be shared (SDK-DT-20).
        case sharingBlocked
        /// Something may not be printed (SDK-PR-02).
        case printingBlocked
        /// The organisation did not pin the server's key (SDK-CP-03).
        case connectionBlocked
    }

    /// One cause.
    public struct Cause: Sendable, Equatable {
        /// What is the matter.
        public let message: String
        /// What helps, or who can.
        public let remedy: String
        /// The rule behind it, for example `launch.os-version`; nil when no rule is.
        public let rule: String?
        /// Where to find the remedy, such as a newer version of the app, for a button or a link; ``remedy`` ends with it. Nil if
        /// the organisation named no place.
        public let address: String?

        /// States a cause.
        public init(message: String, remedy: String, rule: String? = nil, address: String? = nil) {
            self.message = message
            self.remedy = address.map { "\(remedy) \($0)" } ?? remedy
            self.rule = rule
            self.address = address
        }

        /// Makes the cause that a verdict's reason states. If the app did not state a fact that a rule needs, the cause says so in words
        /// that a person understands; the reason has the names that an administrator looks for.
        ///
        /// - Parameters:
        ///   - reason: The verdict's reason.
        ///   - configuration: What may say where a newer version of the app is.
        public init(_ reason: PolicyReason, configuration: AppConfiguration = .empty) {
            let isOld = [Rule.launchAppVersion, .launchSDKVersion].map(\.rawValue).contains(reason.rule)
            let isUnanswered = reason.rule == Rule.questionIncomplete.rawValue
            self.init(
                message: isUnanswered ? Self.unanswered(reason.setting) : reason.message,
                remedy: isUnanswered ? Texts.noticeNotKnownRemedy : reason.remedy, rule: reason.rule,
                address: isOld ? configuration.updateAddress : nil)
        }

        private static func unanswered(_ setting: String) -> String {
            let what =
                switch setting {
                case "maximumAllowedDeviceThreatLevel": Texts.noticeNotKnownThreat
                case "deviceComplianceRequired": Texts.noticeNotKnownRooted
                case "allowedIosDeviceModels": Texts.noticeNotKnownModel
                case "appDataEncryptionType": Texts.noticeNotKnownPasscode
                default: Texts.noticeNotKnownRest
                }
            return Texts.noticeNotKnown(what: what)
        }
    }

    /// What it is about.
    public let kind: Kind
    /// Whose data; nil when no account is meant.
    public let account: AccountID?
    /// The heading.
    public let title: String
    /// Every cause, the gravest first.
    public let causes: [Cause]
    /// What the person may answer; an answer that is not among them counts as ``NoticeAnswer/cancel``.
    public let answers: [NoticeAnswer]

    /// Makes a notice; the heading is the usual one of its kind.
    public init(
        _ kind: Kind, account: AccountID?, causes: [Cause], answers: [NoticeAnswer] = [.goOn], title: String? = nil
    ) {
        self.kind = kind
        self.account = account
        self.causes = causes
        self.answers = answers
        self.title = title ?? kind.usualTitle
    }
}

/// What a person answers to a notice.
public enum NoticeAnswer: Sendable, Hashable {
    /// Go on.
    case goOn
    /// Look once more whether the cause is gone.
    case tryAgain
    /// Cancel.
    case cancel
}

extension ProtectionNotice.Kind {
    fileprivate var usualTitle: String {
        switch self {
        case .managed: Texts.noticeManaged
        case .warning: Texts.noticeWarning
        case .blocked: Texts.noticeBlocked
        case .removed: Texts.noticeRemoved
        case .sharingBlocked: Texts.noticeSharingBlocked
        case .printingBlocked: Texts.noticePrintingBlocked
        case .connectionBlocked: Texts.noticeConnectionBlocked
        }
    }
}

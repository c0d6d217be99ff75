// Written by Scripts/texts.py from Texts.xcstrings; change that.

/// The texts that people read.
package enum Texts {
    /// The answer `cancel` to a notice, in a numbered list on a terminal.
    package static let answerCancel = "cancel"

    /// The answer `goOn` to a notice, in a numbered list on a terminal.
    package static let answerGoOn = "go on"

    /// The answer `tryAgain` to a notice, in a numbered list on a terminal.
    package static let answerTryAgain = "try again"

    /// The heading of a notice of the kind `blocked`.
    package static let noticeBlocked = "Your organisation's data stays closed."

    /// The heading of a notice of the kind `connectionBlocked`.
    package static let noticeConnectionBlocked = "Your organisation does not trust this connection."

    /// The heading of a notice of the kind `managed`.
    package static let noticeManaged = "Your organisation protects its data in this app."

    /// The heading of a notice of the kind `printingBlocked`.
    package static let noticePrintingBlocked = "Your organisation does not let this be printed."

    /// The heading of a notice of the kind `removed`.
    package static let noticeRemoved = "Your organisation's data was removed from this app."

    /// The heading of a notice of the kind `sharingBlocked`.
    package static let noticeSharingBlocked = "Your organisation does not let this be shared."

    /// The heading of a notice of the kind `warning`.
    package static let noticeWarning = "Your organisation asks for attention."

    /// Why a new PIN is refused: `digitsOnly`.
    package static let pinDigitsOnly = "Only digits will do."

    /// Why a new PIN is refused: `needsDigitLetterAndSymbol`.
    package static let pinNeedsDigitLetterAndSymbol = "It needs a digit, a letter and a symbol."

    /// Why a new PIN is refused: `needsLetterOrSymbol`.
    package static let pinNeedsLetterOrSymbol = "It needs a letter or a symbol."

    /// Why a new PIN is refused: it is too short.
    package static func pinTooShort(minimum: Int) -> String {
        minimum == 1 ? "It has to have at least one character." : "It has to have at least \(minimum) characters."
    }

    /// Why a new PIN is refused: `tooSimple`.
    package static let pinTooSimple = "Runs such as 123 or 111 will not do."

    /// How many more times a PIN may be entered, inside a sentence.
    package static func pinTries(count: Int) -> String {
        count == 1 ? "one try" : "\(count) tries"
    }

    /// Why a new PIN is refused: `usedBefore`.
    package static let pinUsedBefore = "It was used before."

    /// What to tell a person whose account is not protected, for the cause `rootedDevice`.
    package static let remediationCauseRootedDevice =
        "This device is rooted or jailbroken, so your organisation does not accept it for work."

    /// What to tell a person whose account is not protected, for the cause `signInAgain`.
    package static let remediationCauseSignInAgain =
        "Sign in again, so that your organisation's rules can protect this account."

    /// What to tell a person whose account is not protected, for the cause `userBlocked`.
    package static let remediationCauseUserBlocked =
        "Your organisation has blocked this account. Ask the administrator."

    /// What to tell a person whose account is not protected, for the cause `wipePending`.
    package static let remediationCauseWipePending =
        "Your organisation is about to remove this account's data from this app."

    /// What to tell a person when protecting an account ended as `compliant`.
    package static let remediationCompliant = "Your organisation's rules protect this account now."

    /// What to tell a person when protecting an account ended as `interactionRequired`.
    package static let remediationInteractionRequired =
        "Sign in again, so that your organisation's rules can protect this account."

    /// What to tell a person when protecting an account ended as `networkFailure`.
    package static let remediationNetworkFailure =
        "Your organisation's service cannot be reached. Try again when you are online."

    /// What to tell a person when protecting an account ended as `notCompliant`.
    package static let remediationNotCompliant =
        "Your organisation has no rules for this account in this app, so it cannot be used here."

    /// What to tell a person when protecting an account ended as `serviceFailure`.
    package static let remediationServiceFailure =
        "Your organisation's service could not protect this account. Try again later."

    /// The heading when protecting an account ended as `compliant`.
    package static let remediationTitleCompliant = "Protected"

    /// The heading when protecting an account ended as `interactionRequired`.
    package static let remediationTitleInteractionRequired = "Sign in"

    /// The heading when protecting an account ended as `networkFailure`.
    package static let remediationTitleNetworkFailure = "No connection"

    /// The heading when protecting an account ended as `notCompliant`.
    package static let remediationTitleNotCompliant = "Not protected"

    /// The heading when protecting an account ended as `serviceFailure`.
    package static let remediationTitleServiceFailure = "Try again later"

    /// The heading when protecting an account ended as `userCancelled`.
    package static let remediationTitleUserCancelled = "Cancelled"

    /// What to tell a person when protecting an account ended as `userCancelled`.
    package static let remediationUserCancelled = "The account was not added, because the sign-in was cancelled."

    /// The next step `askAdministrator` of an enrolment, in words.
    package static let stepAskAdministrator =
        "Ask the administrator for a licence or a policy; Cordon tries again by itself."

    /// The next step `chooseAccount` of an enrolment, in words.
    package static let stepChooseAccount = "Use an account that belongs here, or remove the enrolled one first."

    /// The next step `enroll` of an enrolment, in words.
    package static let stepEnroll = "Enrol the account first."

    /// The next step `freeData` of an enrolment, in words.
    package static let stepFreeData = "Close what uses the account's data, then ask for the wipe again."

    /// The next step `mendApp` of an enrolment, in words.
    package static let stepMendApp = "Mend the app: the call or its configuration is not right."

    /// The next step `nothing` of an enrolment, in words.
    package static let stepNothing = "Nothing needs to be done."

    /// The next step `removeAccount` of an enrolment, in words.
    package static let stepRemoveAccount = "Remove the account from the app."

    /// The next step `signIn` of an enrolment, in words.
    package static let stepSignIn = "Sign in again."

    /// The next step `updateApp` of an enrolment, in words.
    package static let stepUpdateApp = "Install a newer version of the app."

    /// A length of time, rounded up, inside a sentence.
    package static func timeDays(count: Int) -> String {
        count == 1 ? "one day" : "\(count) days"
    }

    /// A length of time, rounded up, inside a sentence.
    package static func timeHours(count: Int) -> String {
        count == 1 ? "one hour" : "\(count) hours"
    }

    /// A length of time, rounded up, inside a sentence.
    package static func timeMinutes(count: Int) -> String {
        count == 1 ? "one minute" : "\(count) minutes"
    }

    /// A length of time, rounded up, inside a sentence.
    package static func timeSeconds(count: Int) -> String {
        count == 1 ? "one second" : "\(count) seconds"
    }
}

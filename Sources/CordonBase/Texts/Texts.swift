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

    /// The body of a notification whose content the organisation's rules keep back.
    package static let notificationHidden = "Open the app to read it."

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

    /// Whose data a screen is about, by the name the person signs in with.
    package static func screenAccount(name: String) -> String {
        "Account: \(name)"
    }

    /// A button that turns away.
    package static let screenAnswerCancel = "Cancel"

    /// A button that goes on.
    package static let screenAnswerContinue = "Continue"

    /// A button that has the device recognise a face instead of the PIN.
    package static let screenAnswerFace = "Use Face ID"

    /// A button that has the device recognise a finger instead of the PIN.
    package static let screenAnswerFinger = "Use Touch ID"

    /// A button for a person who does not know the PIN any more.
    package static let screenAnswerForgotPIN = "Forgot PIN"

    /// A button that begins a sign-in.
    package static let screenAnswerSignIn = "Sign in"

    /// A button that looks once more whether a cause is gone.
    package static let screenAnswerTryAgain = "Try again"

    /// How long until the data closes.
    package static func screenCountdownBlock(time: String) -> String {
        "Without contact to the organisation this account's data closes in \(time)."
    }

    /// The heading of the screen that says how long the app may be without contact.
    package static let screenCountdownTitle = "Connect to your organisation"

    /// How long until the data closes, and until it is removed.
    package static func screenCountdownWipe(later: String, time: String) -> String {
        "Without contact to the organisation this account's data closes in \(time) and is removed in \(later)."
    }

    /// The heading of the screen that covers an organisation's data.
    package static let screenCoverTitle = "Your organisation's data is covered."

    /// How long a new PIN with letters or symbols has to be.
    package static func screenNewPINCharacters(count: Int) -> String {
        count == 1 ? "A letter or symbol at least." : "At least \(count) characters, with a letter or symbol."
    }

    /// The new PIN and its repetition differ.
    package static let screenNewPINDiffers = "The two are not the same."

    /// How long a new PIN of digits has to be.
    package static func screenNewPINDigits(count: Int) -> String {
        count == 1 ? "At least one digit." : "At least \(count) digits."
    }

    /// The heading of the screen on which a new PIN is typed again.
    package static let screenNewPINRepeat = "Enter the same PIN again"

    /// The heading of the screen on which a new PIN is chosen.
    package static let screenNewPINTitle = "Choose a PIN"

    /// What was typed has other characters than digits; it was not counted as a guess.
    package static let screenPinDigitsOnly = "The PIN has digits only; that was not tried."

    /// The label of the field in which a PIN is typed.
    package static let screenPinField = "PIN"

    /// Why the device is asked to recognise the person.
    package static func screenPinReason(name: String) -> String {
        "Open the data of \(name)."
    }

    /// The heading of the screen that asks for the PIN.
    package static let screenPinTitle = "Enter the PIN"

    /// How long to wait before the next guess.
    package static func screenPinWait(time: String) -> String {
        "Wait \(time) before the next try."
    }

    /// The guess before was wrong; `tries` is a number of tries in words.
    package static func screenPinWrong(tries: String) -> String {
        "That is not the PIN; \(tries) left."
    }

    /// Who is to sign in afresh.
    package static func screenSignInAs(name: String) -> String {
        "Sign in as \(name)."
    }

    /// The heading of the screen that asks for a fresh sign-in.
    package static let screenSignInTitle = "Sign in again"

    /// Why no fresh sign-in can begin: the app has none.
    package static let screenSignInUnavailable = "This app has no way to sign in."

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

    /// A part of a theme, in `terminal.refused`.
    package static let terminalAccentWithoutColours = "an accent colour without colours"

    /// A part of a theme, in `terminal.refused`.
    package static let terminalBackground = "a background colour"

    /// The line above a report for support.
    package static let terminalDiagnostics = "── diagnostics ──"

    /// The request for the PIN of `name`, who may not turn away.
    package static func terminalEnterPin(name: String) -> String {
        "PIN of \(name) (? when forgotten):"
    }

    /// The request for the PIN of `name`, who may turn away.
    package static func terminalEnterPinOrCancel(name: String) -> String {
        "PIN of \(name) (? when forgotten, an empty line to cancel):"
    }

    /// A part of a theme, in `terminal.refused`.
    package static let terminalLightAndDark = "light and dark"

    /// The request for a new PIN of `name`, of any characters.
    package static func terminalNewPin(minimum: Int, name: String) -> String {
        "New PIN of \(name), at least \(minimum) characters, with a letter or symbol:"
    }

    /// The request to type a new PIN once more.
    package static let terminalNewPinAgain = "The same again:"

    /// The request for a new PIN of `name`, of digits alone.
    package static func terminalNewPinOfDigits(minimum: Int, name: String) -> String {
        "New PIN of \(name), at least \(minimum) digits:"
    }

    /// The answer to a fresh sign-in where the program has none.
    package static let terminalNoSignIn = "This program has no way to sign in."

    /// A part of a theme that a terminal leaves out. `what` is one of the texts from `terminal.splashPicture` to `terminal.accentWithoutColours`.
    package static func terminalRefused(what: String) -> String {
        "A terminal cannot show \(what)."
    }

    /// A part of a theme, in `terminal.refused`.
    package static let terminalSideAreas = "side areas"

    /// The request to sign in as `name`; `message` is a sentence that says why.
    package static func terminalSignIn(message: String, name: String) -> String {
        "\(message) Sign in as \(name)."
    }

    /// A part of a theme, in `terminal.refused`.
    package static let terminalSplashPicture = "a splash picture"

    /// A part of a theme, in `terminal.refused`.
    package static let terminalSplashScreen = "a splash screen"

    /// The line above everything that the protection asks in a terminal.
    package static let terminalTakeOver = "── your organisation's protection ──"

    /// The same for one account, named by its id.
    package static func terminalTakeOverFor(account: String) -> String {
        "── \(account): your organisation's protection ──"
    }

    /// A part of a theme, in `terminal.refused`.
    package static let terminalTextColour = "a text colour"

    /// Shown when a choice between numbered answers is answered otherwise.
    package static let terminalTypeNumber = "Type one of the numbers."

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

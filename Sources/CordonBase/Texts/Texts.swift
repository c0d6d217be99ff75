// Written by Scripts/texts.py from Texts.xcstrings; change that.

/// The texts that people read.
package enum Texts {
    /// The answer `cancel` to a notice, in a numbered list on a terminal.
    package static let answerCancel = "cancel"

    /// The answer `goOn` to a notice, in a numbered list on a terminal.
    package static let answerGoOn = "go on"

    /// The answer `tryAgain` to a notice, in a numbered list on a terminal.
    package static let answerTryAgain = "try again"

    /// What a person is told of a denial (`AccessRules`).
    package static let denialAccountOrganisationDataIsRemovedFrom =
        "The account's organisation data is removed from this app; sign in again to fetch it."

    /// What a person is told of a denial (`ConditionActions`).
    package static func denialAccountOrganisationDataIsRemovedThen(repair: String) -> String {
        "The account's organisation data is removed from this app. \(repair)"
    }

    /// Why the policy's action does not apply (`ConditionActions`); stands after a colon.
    package static func denialActionOfConditionThatWarns(action: String) -> String {
        "\"\(action)\" is not an action of this condition, which blocks or warns; it counts as \"block\""
    }

    /// Why the policy's action does not apply (`ConditionActions`); stands after a colon.
    package static func denialActionOfConditionThatWipes(action: String) -> String {
        "\"\(action)\" is not an action of this condition, which blocks or wipes; it counts as \"block\""
    }

    /// What a person is told of a denial (`OutputRules`).
    package static let denialAdministratorCanAllowScreenCaptureBy =
        "The administrator can allow screen capture by its own setting or by app configuration."

    /// What a person is told of a denial (`SharingRules`).
    package static let denialAppClipIsUnmanagedPlaceAnd =
        "An App Clip is an unmanaged place and shows no organisation data."

    /// What a person is told of a denial (`VersionRules`).
    package static func denialAppIsTooOld(limit: String, version: String) -> String {
        "The app is too old: \(version) (limit \(limit))."
    }

    /// What a person is told of a denial (`AccessRules`).
    package static let denialAppWasNotUsedForWhile = "The app was not used for a while."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialAppWasWithoutContactToOrganisation =
        "The app was without contact to the organisation for longer than allowed."

    /// What a person is told of a denial (`DeviceRules`).
    package static let denialAskAdministrator = "Ask the administrator."

    /// What a person is told of a denial (`FindingCollector`).
    package static func denialAskAgainWithGivenNeededBy(field: String, rule: String) -> String {
        "Ask again with \(field) given (needed by \(rule))."
    }

    /// What a person is told of a denial (`SaveAsRule`).
    package static let denialAskWithoutAccountNoneBelongsTo = "Ask without an account: none belongs to this place."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialCheckInWithServiceOrClock = "Check in with the service, or clock in."

    /// What a person is told of a denial (`Evaluation`).
    package static let denialCheckInWithServiceOrSign =
        "Check in with the service, or sign in again; data stays closed until the policy arrives."

    /// What a person is told of a denial (`OutgoingRule`).
    package static let denialChooseManagedAppInWhichThis = "Choose a managed app in which this account is signed in."

    /// What a person is told of a denial (`URLRule`).
    package static let denialChooseManagedDialer = "Choose a managed dialer."

    /// What a person is told of a denial (`URLRule`).
    package static let denialChooseManagedMessagingApp = "Choose a managed messaging app."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialClockInToUseWorkAccount = "Clock in to use the work account."

    /// What a person is told of a denial (`SaveAsRule`).
    package static func denialCopiesOfOrganisationDataMayNot(place: String) -> String {
        "Copies of organisation data may not be saved to \(place)."
    }

    /// What a person is told of a denial (`ClipboardRules`).
    package static func denialCopyAtMostCharacters(limit: Int) -> String {
        "Copy at most \(limit) characters."
    }

    /// What a person is told of a denial (`ClipboardRules`).
    package static let denialCopyItInManagedApp = "Copy it in a managed app."

    /// What a person is told of a denial (`IncomingRule`).
    package static let denialCreateDataInThisApp = "Create the data in this app."

    /// What a person is told of a denial (`OpenFromRule`).
    package static func denialDataFromMayNotBeBrought(place: String) -> String {
        "Data from \(place) may not be brought into organisation documents."
    }

    /// What a person is told of a denial (`AccessRules`).
    package static let denialDeviceClockWasTurnedBack = "The device's clock was turned back."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialDeviceClockWasTurnedBackSo =
        "The device's clock was turned back, so the time without check-in is not known."

    /// What a person is told of a denial (`DeviceRules`).
    package static let denialDeviceHasNoPasscodeSoOrganisation =
        "The device has no passcode, so organisation files would not be protected while it is locked."

    /// What a person is told of a denial (`DeviceRules`).
    package static let denialDeviceIsRootedOrJailbroken = "The device is rooted or jailbroken."

    /// What a person is told of a denial (`DeviceRules`).
    package static func denialDeviceThreatLevelIsAtMost(level: String, maximum: String) -> String {
        "The device's threat level is \(level); at most \(maximum) is accepted."
    }

    /// What a person is told of a denial (`URLRule`).
    package static let denialDialByHand = "Dial by hand."

    /// What a person is told of a denial (`SaveAsRule`).
    package static let denialEditItWhereItIs = "Edit it where it is."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialEditTextByHand = "Edit the text by hand."

    /// What a person is told of a denial (`AccessRules`).
    package static let denialEnterPIN = "Enter the PIN."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialFinishWhatIsOpenOrClock = "Finish what is open, or clock in."

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static let denialGiveCompleteLinkSuchAsHttps = "Give a complete link, such as https://example.com/page."

    /// What a person is told of a denial (`URLRule`).
    package static let denialGiveCompleteURLSuchAsHttps = "Give a complete URL, such as https://example.com."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialGoOnlineAndCheckIn = "Go online and check in."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialImageGlyphsAreOffInOrganisation = "Image glyphs are off in organisation text."

    /// What a person is told of a denial (`FindingCollector`).
    package static func denialItCannotBeToldWhetherThis(field: String) -> String {
        "The rules cannot decide this: \(field) is not known."
    }

    /// What a person is told of a denial (`Evaluation`).
    package static let denialItIsNotKnownForWhom = "The identity of this work was lost, so organisation data is denied."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialItIsNotKnownWhetherYou =
        "It is not known whether you are at work, which counts as clocked out."

    /// What a person is told of a denial (`IncomingRule`).
    package static let denialItemIsNotLoadedSoIts = "The item is not loaded, so its owner is not known."

    /// What a person is told of a denial (`OutgoingRule`).
    package static let denialKeepDataInThisApp = "Keep the data in this app."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialKeyboardsOfOtherMakersAreOff = "Keyboards of other makers are off in this app."

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static let denialLinkHasNoHost = "The link has no host, or one that programs read differently."

    /// What a person is told of a denial (`IncomingRule`).
    package static let denialLoadItemThenAskAgain = "Load the item, then ask again."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialLookThemUpInApp = "Look them up in the app."

    /// What a person is told of a denial (`URLRule`).
    package static let denialMessagesAreSentByManagedApps = "Messages are sent by managed apps only."

    /// What a person is told of a denial (`URLRule`).
    package static let denialMessagesAreSentByOneApp = "Messages are sent by one app only."

    /// What a person is told of a denial (`SaveAsRule`).
    package static let denialNamePlaceForSaving = "Name a place for saving."

    /// What a person is told of a denial (`OpenFromRule`).
    package static let denialNameSourceForOpening = "Name a source for opening."

    /// What a person is told of a denial (`Evaluation`).
    package static let denialNoPolicyIsKnownForThis = "No policy is known for this organisation account."

    /// What a person is told of a denial (`OpenFromRule`).
    package static func denialNothingCanBeOpenedFrom(place: String) -> String {
        "Nothing can be opened from \(place)."
    }

    /// What a person is told of a denial (`SaveAsRule`).
    package static func denialNothingCanBeSavedTo(place: String) -> String {
        "Nothing can be saved to \(place)."
    }

    /// What a person is told of a denial (`ClipboardRules`).
    package static let denialNothingMayBePastedFromOther =
        "Nothing may be pasted from other apps into organisation data."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialNotificationsShowNoOrganisationData = "Notifications show no organisation data."

    /// What a person is told of a denial (`URLRule`).
    package static let denialNumbersAreDialledByManagedApps = "Numbers are dialled by managed apps only."

    /// What a person is told of a denial (`URLRule`).
    package static let denialNumbersAreDialledByOneApp = "Numbers are dialled by one app only."

    /// What a person is told of a denial (`URLRule`).
    package static let denialNumbersInOrganisationDataMayNot =
        "Numbers in organisation data may not be dialled with this app."

    /// What a person is told of a denial (`ClipboardRules`).
    package static let denialOnlyTextFromManagedAppsWith =
        "Only text from managed apps with the same work account may be pasted here."

    /// What a person is told of a denial (`ClipboardRules`).
    package static func denialOnlyTextsOfUpToCharacters(limit: Int) -> String {
        "Only texts of up to \(limit) characters may be copied out."
    }

    /// What a person is told of a denial (`SystemRules`).
    package static let denialOpenAppToSeeIt = "Open the app to see it."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialOpenAppToSeeWhatIs = "Open the app to see what is new."

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static let denialOpenItAsWebPage = "Open it as a web page."

    /// What a person is told of a denial (`OpenFromRule`).
    package static func denialOpenItFrom(places: String) -> String {
        "Open it from \(places)."
    }

    /// What a person is told of a denial (`URLRule`).
    package static let denialOpenItInManagedAppOr =
        "Open it in a managed app, or ask the administrator to exempt the scheme."

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static let denialOpenItThere = "Open it there."

    /// What a person is told of a denial (`URLRule`).
    package static let denialOpenLinkThere = "Open the link there."

    /// What a person is told of a denial (`URLRule`).
    package static let denialOpenMessageWithThatAppURL = "Open the message with that app's URL scheme."

    /// What a person is told of a denial (`URLRule`).
    package static let denialOpenNumberWithThatAppURL = "Open the number with that app's URL scheme."

    /// What a person is told of a denial (`WebViewRules`).
    package static let denialOpenPageInManagedBrowser = "Open the page in the managed browser."

    /// What a person is told of a denial (`OutgoingRule`).
    package static let denialOpenSuchURLOrChooseManaged =
        "Open such a URL, or choose a managed app in which this account is signed in."

    /// What a person is told of a denial (`VersionRules`).
    package static func denialOperatingSystemIsTooNew(limit: String, version: String) -> String {
        "The operating system is newer than accepted: \(version) (limit \(limit))."
    }

    /// What a person is told of a denial (`VersionRules`).
    package static func denialOperatingSystemIsTooOld(limit: String, version: String) -> String {
        "The operating system is too old: \(version) (limit \(limit))."
    }

    /// What a person is told of a denial (`AccessRules`).
    package static let denialOrganisationAsksForFreshSignIn = "The organisation asks for a fresh sign-in."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialOrganisationContactsStayOutOfAddress =
        "Organisation contacts stay out of the address book."

    /// What a person is told of a denial (`ContentEvaluationRule`).
    package static let denialOrganisationContentCheckCouldNotBe = "The organisation's content check could not be made."

    /// What a person is told of a denial (`ContentEvaluationRule`).
    package static let denialOrganisationContentCheckRefusedToShare =
        "The organisation's content check refused to share this."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialOrganisationDataAndActionsAreKept =
        "Organisation data and actions are kept from Siri, shortcuts and other assistants."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialOrganisationDataIsKeptOutOf = "Organisation data is kept out of the system's search."

    /// What a person is told of a denial (`OutgoingRule`).
    package static let denialOrganisationDataMayBeSentOnly =
        "Organisation data may be sent only to managed apps with the same work account."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialOrganisationDataMayNotBePrinted = "Organisation data may not be printed."

    /// What a person is told of a denial (`OutgoingRule`).
    package static let denialOrganisationDataMayNotBeSent = "Organisation data may not be sent to any other app."

    /// What a person is told of a denial (`URLRule`).
    package static let denialOrganisationDataMayNotBeSentAs =
        "Organisation data may not be sent as a text message with this app."

    /// What a person is told of a denial (`SharingRules`).
    package static let denialOrganisationDataMayNotBeShared = "Organisation data may not be shared at all."

    /// What a person is told of a denial (`SaveAsRule`).
    package static let denialOrganisationDataMayNotLeaveThis =
        "Organisation data may not leave this app, so no copy can be saved."

    /// What a person is told of a denial (`URLRule`).
    package static let denialOrganisationDataMayOpenNoOther = "Organisation data may open no other app."

    /// What a person is told of a denial (`OutgoingRule`).
    package static let denialOrganisationDataReachesExemptedAppOnly =
        "Organisation data reaches an exempted app only by a URL whose scheme the policy exempts."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialOrganisationFilesAreWrittenEncryptedOnly = "Organisation files are written encrypted only."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialOrganisationFilesStayOutOfBackups = "Organisation files stay out of backups."

    /// What a person is told of a denial (`ClipboardRules`).
    package static let denialOrganisationTextMayBePastedOnly =
        "Organisation text may be pasted only into managed apps with the same work account."

    /// What a person is told of a denial (`ClipboardRules`).
    package static let denialOrganisationTextMayNotBeCopied = "Organisation text may not be copied out of this app."

    /// What a person is told of a denial (`ClipboardRules`).
    package static let denialPasteItInSameWorkAccount = "Paste it in the same work account."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialPictureOfScreenCouldBeSent =
        "A picture of the screen could be sent to any app, and organisation data may not."

    /// What a person is told of a denial (`AccessRules`).
    package static let denialPinIsTooOld = "The PIN is too old."

    /// What a person is told of a denial (`AccessRules`).
    package static let denialPinWasEnteredWronglyTooOften = "The PIN was entered wrongly too often."

    /// What a person is told of a denial (`ConditionActions`).
    package static func denialPolicyActionDoesNotApply(message: String, why: String) -> String {
        "\(message) The policy's action does not apply: \(why)."
    }

    /// What a person is told of a denial (`Evaluation`).
    package static func denialPolicyDemandsSomethingThisVersionDoes(settings: String) -> String {
        "The policy demands something this version does not know: \(settings)."
    }

    /// What a person is told of a denial (`FindingCollector`).
    package static func denialPolicyValueIsNotKnownTo(value: String) -> String {
        " The policy's value \(value) is not known to this version and counts as one that denies."
    }

    /// What a person is told of a denial (`VersionRules`).
    package static func denialProtectionLibraryIsTooOld(limit: String, version: String) -> String {
        "The protection library is too old: \(version) (limit \(limit))."
    }

    /// What a person is told of a denial (`OutputRules`).
    package static let denialReadItOnScreen = "Read it on the screen."

    /// What a person is told of a denial (`ContentEvaluationRule`).
    package static let denialRemoveSensitivePart = "Remove the sensitive part."

    /// What a person is told of a denial (`DeviceRules`).
    package static let denialRemoveThreatsThatThreatDefenceLists = "Remove the threats that the threat defence lists."

    /// What a person is told of a denial (`DeviceRules`).
    package static let denialRestoreDeviceSystem = "Restore the device's system."

    /// What a person is told of a denial (`SaveAsRule`).
    package static func denialSaveItToOfWorkAccount(places: String) -> String {
        "Save it to one of these places of the work account: \(places)."
    }

    /// What a person is told of a denial (`URLRule`).
    package static func denialSchemeOpensAppThatIsNot(scheme: String) -> String {
        "The scheme \(scheme) opens an app that is not known to be managed."
    }

    /// What a person is told of a denial (`OutputRules`).
    package static let denialScreenMayNotBeCapturedWhile =
        "The screen may not be captured while organisation data is shown."

    /// What a person is told of a denial (`IncomingRule`).
    package static let denialSendItFromManagedAppOr =
        "Send it from a managed app, or receive it with a personal account."

    /// What a person is told of a denial (`Evaluation`).
    package static let denialSetAccountForThisPieceOf =
        "Set the account for this piece of work, or say that it is personal."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialSetClockAndCheckInWith = "Set the clock and check in with the service."

    /// What a person is told of a denial (`AccessRules`).
    package static let denialSetClockThenEnterPINOr = "Set the clock, then enter the PIN or sign in again."

    /// What a person is told of a denial (`AccessRules`).
    package static let denialSetNewPIN = "Set a new PIN."

    /// What a person is told of a denial (`DeviceRules`).
    package static let denialSetPasscodeInDeviceSettings = "Set a passcode in the device's settings."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialShareLinkInstead = "Share a link instead."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialShowFixedTextAndOpenApp = "Show a fixed text and open the app for the rest."

    /// What a person is told of a denial (`AccessRules`).
    package static let denialSignInWithWorkAccount = "Sign in with the work account."

    /// What a person is told of a denial (`AccessRules`).
    package static let denialSignInWithWorkAccountAnd = "Sign in with the work account and set a new PIN."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialSystemWritingToolsAreOffIn = "The system's writing tools are off in organisation text."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialTheyComeBackFromOrganisationOwn = "They come back from the organisation's own servers."

    /// What a person is told of a denial (`DeviceRules`).
    package static let denialThisDeviceModelIsNotAccepted = "This device model is not accepted."

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static let denialThisLinkMayNotOpenUnmanaged = "This link may not open an unmanaged app."

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static let denialThisLinkOpensInItsManaged = "This link opens in its managed app only."

    /// What a person is told of a denial (`WebViewRules`).
    package static let denialThisPageTakesNoUploadsAnd = "This page takes no uploads and no pasted text."

    /// What a person is told of a denial (`SaveAsRule`).
    package static let denialThisPlaceDoesNotBelongTo =
        "This place does not belong to the work account that owns the data."

    /// What a person is told of a denial (`OpenFromRule`).
    package static let denialThisSourceDoesNotBelongTo =
        "This source does not belong to the work account that would receive the data."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialThisWorkAccountShowsNoNotifications = "This work account shows no notifications."

    /// What a person is told of a denial (`ClipboardRules`).
    package static let denialThisWorkAccountTakesDataFrom = "This work account takes data from no other app."

    /// What a person is told of a denial (`IncomingRule`).
    package static let denialThisWorkAccountTakesDataOnly =
        "This work account takes data only from managed apps with the same work account."

    /// What a person is told of a denial (`OpenFromRule`).
    package static let denialThisWorkAccountTakesNoData = "This work account takes no data from outside."

    /// What a person is told of a denial (`ContentEvaluationRule`).
    package static let denialTryAgainWhenItCanBe = "Try again when it can be reached."

    /// What a person is told of a denial (`ClipboardRules`).
    package static let denialTypeTextHere = "Type the text here."

    /// What a person is told of a denial (`VersionRules`).
    package static let denialUpdateApp = "Update the app."

    /// What a person is told of a denial (`VersionRules`).
    package static let denialUpdateDevice = "Update the device."

    /// What a person is told of a denial (`URLRule`).
    package static let denialUrlHasNoReadableScheme = "The URL has no readable scheme."

    /// What a person is told of a denial (`SharingRules`).
    package static let denialUseAppItself = "Use the app itself."

    /// What a person is told of a denial (`SharingRules`).
    package static let denialUseFullApp = "Use the full app."

    /// What a person is told of a denial (`DeviceRules`).
    package static let denialUseListedDevice = "Use a listed device."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialUseOrdinaryEmoji = "Use an ordinary emoji."

    /// What a person is told of a denial (`SaveAsRule`).
    package static let denialUsePlaceOfSameWorkAccount = "Use the place of the same work account."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialUseSystemKeyboard = "Use the system's keyboard."

    /// What a person is told of a denial (`URLRule`).
    package static let denialUseWorkMail = "Use work mail."

    /// What a person is told of a denial (`SharingRules`).
    package static let denialWebExtensionLivesInBrowserThat =
        "A web extension lives in a browser that is not managed, so it gets no organisation data."

    /// What a person is told of a denial (`URLRule`).
    package static let denialWebLinksOpenInManagedBrowser = "Web links open in the managed browser only."

    /// What a person is told of a denial (`SystemRules`).
    package static let denialWidgetsShowNoOrganisationData = "Widgets show no organisation data."

    /// What a person is told of a denial (`DeviceRules`).
    package static let denialWorkAccountIsDisabled = "The work account is disabled."

    /// What a person is told of a denial (`OutputRules`).
    package static let denialWriteFileAsSealedFileOf = "Write the file as a sealed file of the account."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialYouHaveClockedOut = "You have clocked out."

    /// What a person is told of a denial (`ClockRules`).
    package static let denialYouHaveClockedOutThisApp = "You have clocked out; this app closes soon."

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static func gateAccountFilesCannotBeOpened(reason: String) -> String {
        "The account's files cannot be opened: \(reason)."
    }

    /// What a person is told at a closed gate or way out (`LaunchConditions`).
    package static let gateAdministratorDoesNotAdmitThisAccount =
        "The administrator does not admit this account in this app."

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static let gateAnotherPersonSignedIn = "Another person signed in."

    /// What a person is told at a closed gate or way out (`IdentityRequests`).
    package static let gateAppCouldNotTakeThisAccount =
        "The app could not take this account's data off the screen, and ends now."

    /// What a person is told at a closed gate or way out (`LaunchAttempt`).
    package static func gateCheckCouldNotBeMade(reason: String) -> String {
        "A check could not be made: \(reason)."
    }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static let gateForgottenPINIsReplacedAfterSign = "A forgotten PIN is replaced after a sign-in."

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static let gateGoOnlineAndSignIn = "Go online and sign in."

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static let gateGoOnlineAndSignInWith = "Go online and sign in with the work account."

    /// What a person is told at a closed gate or way out (`LaunchAttempt`).
    package static let gateItCanRemoveThisAccountData =
        "It can remove this account's data from the app; your own data is not touched."

    /// What a person is told at a closed gate or way out (`EgressOutlets+Links`).
    package static func gateItIsNotKnownWhichApp(message: String) -> String {
        "\(message) It is not known which app that is."
    }

    /// What a person is told at a closed gate or way out (`LaunchAttempt`).
    package static func gateItsRulesHoldForWorkAccount(name: String) -> String {
        "Its rules hold for the work account \(name) alone."
    }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static let gateNeitherPINNorServiceOpensFiles =
        "Neither a PIN nor the service opens this account's files any more. They are kept, but cannot be opened here. Sign in to go on without them."

    /// What a person is told at a closed gate or way out (`GatePassing`).
    package static let gateNoOrganisationManagesThisAppYet = "No organisation manages this app yet."

    /// What a person is told at a closed gate or way out (`IdentityRequests`).
    package static let gateOpenAppAgainAndAnswerWhat = "Open the app again and answer what it asks."

    /// What a person is told at a closed gate or way out (`GateState`).
    package static let gateOpenAppAndAnswerWhatIt = "Open the app and answer what it asks."

    /// What a person is told at a closed gate or way out (`EgressOutlets+Links`).
    package static func gateOrAskAdministratorToNameIts(remedy: String) -> String {
        "\(remedy) Or ask the administrator to name its URL scheme."
    }

    /// What a person is told at a closed gate or way out (`AccountTable`).
    package static func gateOrganisationAsksForCordonThisApp(own: String, wanted: String) -> String {
        "The organisation asks for Cordon \(wanted); this app has \(own)."
    }

    /// What a person is told at a closed gate or way out (`GateState`).
    package static let gateOrganisationChecksAtLaunchWereNot = "The organisation's checks at launch were not passed."

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static let gatePinIsNotThereAnyMore = "The PIN is gone."

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static let gateSharedPINIsChosenAfterSign =
        "The PIN that the organisation's apps share is chosen after a sign-in."

    /// What a person is told at a closed gate or way out (`LaunchConditions`).
    package static let gateSignItOutOrAskAdministrator = "Sign it out, or ask the administrator."

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static let gateThisAccountFilesAreOpenedWith = "Sign in once to open this account's files."

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static let gateThisDeviceHasLostKeyThat =
        "This device has lost the key that opens this account's files. They are kept, but cannot be opened here any more. Sign in to go on without them."

    /// What a person is told at a closed gate or way out (`EgressOutlets+Telling`).
    package static let gateTryAnotherNetworkOrTellAdministrator = "Try another network, or tell the administrator."

    /// What a person is told at a closed gate or way out (`EgressOutlets+Telling`).
    package static func gateWhatAnsweredAsCouldNotBe(failure: Int, host: String) -> String {
        "The server that answered as \(host) could not be verified (\(failure))."
    }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static let gateWhatServiceHoldsDoesNotOpen = "What the service holds does not open this account's files."

    /// What a person is told at a closed gate or way out (`LaunchConditions`).
    package static let gateWhatThisAppRemembersWasRemoved = "What this app remembers was removed or put back."

    /// The heading of a notice of the kind `blocked`.
    package static let noticeBlocked = "Your organisation's data stays closed."

    /// The heading of a notice of the kind `connectionBlocked`.
    package static let noticeConnectionBlocked = "Your organisation does not trust this connection."

    /// The heading of a notice of the kind `managed`.
    package static let noticeManaged = "Your organisation protects its data in this app."

    /// What a notice says in place of a rule's question that could not be answered; what is one of the texts `notice.notKnown…`.
    package static func noticeNotKnown(what: String) -> String {
        "This app cannot tell whether your organisation allows this, because it does not know \(what)."
    }

    /// What a notice says in place of a rule's question that could not be answered: the model of the device.
    package static let noticeNotKnownModel = "which model this device is"

    /// What a notice says in place of a rule's question that could not be answered: the passcode of the device.
    package static let noticeNotKnownPasscode = "whether this device has a passcode"

    /// What a notice says in place of a rule's question that could not be answered: what helps.
    package static let noticeNotKnownRemedy = "Try again in a moment. If this stays, ask your administrator."

    /// What a notice says in place of a rule's question that could not be answered: any other fact.
    package static let noticeNotKnownRest = "everything that your organisation's rules look at"

    /// What a notice says in place of a rule's question that could not be answered: a changed system.
    package static let noticeNotKnownRooted = "whether this device was rooted or jailbroken"

    /// What a notice says in place of a rule's question that could not be answered: the level of threats.
    package static let noticeNotKnownThreat = "how safe this device is"

    /// The heading of a notice of the kind `printingBlocked`.
    package static let noticePrintingBlocked = "Your organisation does not allow printing this."

    /// The heading of a notice of the kind `removed`.
    package static let noticeRemoved = "Your organisation's data was removed from this app."

    /// The heading of a notice of the kind `sharingBlocked`.
    package static let noticeSharingBlocked = "Your organisation does not allow sharing this."

    /// The heading of a notice of the kind `warning`.
    package static let noticeWarning = "Your organisation asks for your attention."

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
        minimum == 1 ? "It needs at least one character." : "It needs at least \(minimum) characters."
    }

    /// Why a new PIN is refused: `tooSimple`.
    package static let pinTooSimple = "Runs such as 123 or 111 will not do."

    /// How many more times a PIN may be entered, inside a sentence.
    package static func pinTries(count: Int) -> String {
        count == 1 ? "one try" : "\(count) tries"
    }

    /// Why a new PIN is refused: `usedBefore`.
    package static let pinUsedBefore = "It was used before."

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static let placeCamera = "the camera"

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static let placeOfAccount = "a place of the account's own"

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static let placeOwnStorage = "this app's own storage"

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static let placePhotoLibrary = "the photo library"

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static let placeUnlisted = "a place that the organisation does not list"

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

    /// A button that cancels.
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
    package static let screenNewPINDiffers = "The two PINs do not match."

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

    /// The PIN that is asked for is the one that the app had before it came to share one with other apps.
    package static let screenPinFormer =
        "Enter the PIN that this app had before it shared one with other apps. Nothing else opens this account's files."

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
        "Wrong PIN; \(tries) left."
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
    package static let stepMendApp = "Fix the app: the call or its configuration is wrong."

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

    /// The request for the PIN of `name`, who may not cancel.
    package static func terminalEnterPin(name: String) -> String {
        "PIN of \(name) (? when forgotten):"
    }

    /// The request for the PIN of `name`, who may cancel.
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

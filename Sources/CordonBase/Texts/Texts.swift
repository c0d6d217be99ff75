// Written by Scripts/texts.py from Texts.xcstrings; change that.
// swift-format-ignore-file

/// The texts that people read, in the language of the process.
package enum Texts {
    /// The answer `cancel` to a notice, in a numbered list on a terminal.
    package static var answerCancel: String { text("cancel", de: "abbrechen") }

    /// The answer `goOn` to a notice, in a numbered list on a terminal.
    package static var answerGoOn: String { text("go on", de: "weiter") }

    /// The answer `tryAgain` to a notice, in a numbered list on a terminal.
    package static var answerTryAgain: String { text("try again", de: "erneut versuchen") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialAccountOrganisationDataIsRemovedFrom: String { text("The account's organisation data is removed from this app; sign in again to fetch it.", de: "Die Organisationsdaten des Kontos werden aus dieser App gelöscht; melden Sie sich erneut an, um sie wieder zu holen.") }

    /// What a person is told of a denial (`ConditionActions`).
    package static func denialAccountOrganisationDataIsRemovedThen(repair: String) -> String { text("The account's organisation data is removed from this app. \(repair)", de: "Die Organisationsdaten des Kontos werden aus dieser App gelöscht. \(repair)") }

    /// Why the policy's action does not apply (`ConditionActions`); stands after a colon.
    package static func denialActionOfConditionThatWarns(action: String) -> String { text("\"\(action)\" is not an action of this condition, which blocks or warns; it counts as \"block\"", de: "„\(action)“ ist keine Maßnahme dieser Bedingung, die sperrt oder warnt; es zählt als „block“") }

    /// Why the policy's action does not apply (`ConditionActions`); stands after a colon.
    package static func denialActionOfConditionThatWipes(action: String) -> String { text("\"\(action)\" is not an action of this condition, which blocks or wipes; it counts as \"block\"", de: "„\(action)“ ist keine Maßnahme dieser Bedingung, die sperrt oder löscht; es zählt als „block“") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialAdministratorCanAllowScreenCaptureBy: String { text("The administrator can allow screen capture by its own setting or by app configuration.", de: "Der Administrator kann Bildschirmaufnahmen durch eine eigene Einstellung oder durch eine App-Konfiguration erlauben.") }

    /// What a person is told of a denial (`SharingRules`).
    package static var denialAppClipIsUnmanagedPlaceAnd: String { text("An App Clip is an unmanaged place and shows no organisation data.", de: "Ein App Clip ist nicht verwaltet und zeigt keine Organisationsdaten.") }

    /// What a person is told of a denial (`VersionRules`).
    package static func denialAppIsTooOld(limit: String, version: String) -> String { text("The app is too old: \(version) (limit \(limit)).", de: "Die App ist zu alt: \(version) (Grenze \(limit)).") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialAppWasNotUsedForWhile: String { text("The app was not used for a while.", de: "Die App wurde eine Zeit lang nicht benutzt.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialAppWasWithoutContactToOrganisation: String { text("The app was without contact to the organisation for longer than allowed.", de: "Die App hatte länger als erlaubt keine Verbindung zur Organisation.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static var denialAskAdministrator: String { text("Ask the administrator.", de: "Fragen Sie den Administrator.") }

    /// What a person is told of a denial (`FindingCollector`).
    package static func denialAskAgainWithGivenNeededBy(field: String, rule: String) -> String { text("Ask again with \(field) given (needed by \(rule)).", de: "Fragen Sie noch einmal und geben Sie \(field) an (verlangt von \(rule)).") }

    /// What a person is told of a denial (`SaveAsRule`).
    package static var denialAskWithoutAccountNoneBelongsTo: String { text("Ask without an account: none belongs to this place.", de: "Fragen Sie ohne Konto: Zu diesem Ort gehört keines.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialCheckInWithServiceOrClock: String { text("Check in with the service, or clock in.", de: "Verbinden Sie sich mit dem Dienst, oder stempeln Sie ein.") }

    /// What a person is told of a denial (`Evaluation`).
    package static var denialCheckInWithServiceOrSign: String { text("Check in with the service, or sign in again; data stays closed until the policy arrives.", de: "Verbinden Sie sich mit dem Dienst, oder melden Sie sich erneut an; die Daten bleiben verschlossen, bis die Richtlinie da ist.") }

    /// What a person is told of a denial (`OutgoingRule`).
    package static var denialChooseManagedAppInWhichThis: String { text("Choose a managed app in which this account is signed in.", de: "Wählen Sie eine verwaltete App, in der dieses Konto angemeldet ist.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialChooseManagedDialer: String { text("Choose a managed dialer.", de: "Wählen Sie eine verwaltete Telefon-App.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialChooseManagedMessagingApp: String { text("Choose a managed messaging app.", de: "Wählen Sie eine verwaltete Nachrichten-App.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialClockInToUseWorkAccount: String { text("Clock in to use the work account.", de: "Stempeln Sie ein, um das Arbeitskonto zu benutzen.") }

    /// What a person is told of a denial (`SaveAsRule`).
    package static func denialCopiesOfOrganisationDataMayNot(place: String) -> String { text("Copies of organisation data may not be saved to \(place).", de: "Kopien von Organisationsdaten dürfen hier nicht gespeichert werden: \(place).") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static func denialCopyAtMostCharacters(limit: Int) -> String { text("Copy at most \(limit) characters.", de: "Kopieren Sie höchstens \(limit) Zeichen.") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static var denialCopyItInManagedApp: String { text("Copy it in a managed app.", de: "Kopieren Sie es in einer verwalteten App.") }

    /// What a person is told of a denial (`IncomingRule`).
    package static var denialCreateDataInThisApp: String { text("Create the data in this app.", de: "Legen Sie die Daten in dieser App an.") }

    /// What a person is told of a denial (`OpenFromRule`).
    package static func denialDataFromMayNotBeBrought(place: String) -> String { text("Data from \(place) may not be brought into organisation documents.", de: "Daten von hier dürfen nicht in Dokumente der Organisation gelangen: \(place).") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialDeviceClockWasTurnedBack: String { text("The device's clock was turned back.", de: "Die Uhr des Geräts wurde zurückgestellt.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialDeviceClockWasTurnedBackSo: String { text("The device's clock was turned back, so the time without check-in is not known.", de: "Die Uhr des Geräts wurde zurückgestellt; wie lange es keine Verbindung gab, ist daher nicht bekannt.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static var denialDeviceHasNoPasscodeSoOrganisation: String { text("The device has no passcode, so organisation files would not be protected while it is locked.", de: "Das Gerät hat keinen Gerätecode; Dateien der Organisation wären nicht geschützt, während es gesperrt ist.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static var denialDeviceIsRootedOrJailbroken: String { text("The device is rooted or jailbroken.", de: "Das Gerät ist gerootet oder hat einen Jailbreak.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static func denialDeviceThreatLevelIsAtMost(level: String, maximum: String) -> String { text("The device's threat level is \(level); at most \(maximum) is accepted.", de: "Die Bedrohungsstufe des Geräts ist \(level); höchstens \(maximum) ist erlaubt.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialDialByHand: String { text("Dial by hand.", de: "Wählen Sie die Nummer von Hand.") }

    /// What a person is told of a denial (`SaveAsRule`).
    package static var denialEditItWhereItIs: String { text("Edit it where it is.", de: "Bearbeiten Sie es dort, wo es ist.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialEditTextByHand: String { text("Edit the text by hand.", de: "Bearbeiten Sie den Text von Hand.") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialEnterPIN: String { text("Enter the PIN.", de: "Geben Sie die PIN ein.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialFinishWhatIsOpenOrClock: String { text("Finish what is open, or clock in.", de: "Schließen Sie ab, was offen ist, oder stempeln Sie ein.") }

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static var denialGiveCompleteLinkSuchAsHttps: String { text("Give a complete link, such as https://example.com/page.", de: "Geben Sie einen vollständigen Link an, etwa https://example.com/page.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialGiveCompleteURLSuchAsHttps: String { text("Give a complete URL, such as https://example.com.", de: "Geben Sie eine vollständige URL an, etwa https://example.com.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialGoOnlineAndCheckIn: String { text("Go online and check in.", de: "Gehen Sie online und verbinden Sie sich mit dem Dienst.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialImageGlyphsAreOffInOrganisation: String { text("Image glyphs are off in organisation text.", de: "Bildzeichen sind in Texten der Organisation abgeschaltet.") }

    /// What a person is told of a denial (`FindingCollector`).
    package static func denialItCannotBeToldWhetherThis(field: String) -> String { text("The rules cannot decide this: \(field) is not known.", de: "Es lässt sich nicht sagen, ob das erlaubt ist: \(field) ist nicht bekannt.") }

    /// What a person is told of a denial (`Evaluation`).
    package static var denialItIsNotKnownForWhom: String { text("The identity of this work was lost, so organisation data is denied.", de: "Es ist nicht bekannt, für wen dies geschieht; Organisationsdaten werden daher verweigert.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialItIsNotKnownWhetherYou: String { text("It is not known whether you are at work, which counts as clocked out.", de: "Es ist nicht bekannt, ob Sie bei der Arbeit sind; das zählt als ausgestempelt.") }

    /// What a person is told of a denial (`IncomingRule`).
    package static var denialItemIsNotLoadedSoIts: String { text("The item is not loaded, so its owner is not known.", de: "Der Inhalt ist nicht geladen; wem er gehört, ist daher nicht bekannt.") }

    /// What a person is told of a denial (`OutgoingRule`).
    package static var denialKeepDataInThisApp: String { text("Keep the data in this app.", de: "Lassen Sie die Daten in dieser App.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialKeyboardsOfOtherMakersAreOff: String { text("Keyboards of other makers are off in this app.", de: "Tastaturen anderer Hersteller sind in dieser App abgeschaltet.") }

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static var denialLinkHasNoHost: String { text("The link has no host, or one that programs read differently.", de: "Der Link hat keinen Host, oder einen, den Programme verschieden lesen.") }

    /// What a person is told of a denial (`IncomingRule`).
    package static var denialLoadItemThenAskAgain: String { text("Load the item, then ask again.", de: "Laden Sie den Inhalt und fragen Sie dann noch einmal.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialLookThemUpInApp: String { text("Look them up in the app.", de: "Schlagen Sie sie in der App nach.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialMessagesAreSentByManagedApps: String { text("Messages are sent by managed apps only.", de: "Nachrichten werden nur von verwalteten Apps gesendet.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialMessagesAreSentByOneApp: String { text("Messages are sent by one app only.", de: "Nachrichten werden nur von einer bestimmten App gesendet.") }

    /// What a person is told of a denial (`SaveAsRule`).
    package static var denialNamePlaceForSaving: String { text("Name a place for saving.", de: "Nennen Sie einen Ort zum Speichern.") }

    /// What a person is told of a denial (`OpenFromRule`).
    package static var denialNameSourceForOpening: String { text("Name a source for opening.", de: "Nennen Sie einen Ort zum Öffnen.") }

    /// What a person is told of a denial (`Evaluation`).
    package static var denialNoPolicyIsKnownForThis: String { text("No policy is known for this organisation account.", de: "Für dieses Konto der Organisation ist keine Richtlinie bekannt.") }

    /// What a person is told of a denial (`OpenFromRule`).
    package static func denialNothingCanBeOpenedFrom(place: String) -> String { text("Nothing can be opened from \(place).", de: "Von hier lässt sich nichts öffnen: \(place).") }

    /// What a person is told of a denial (`SaveAsRule`).
    package static func denialNothingCanBeSavedTo(place: String) -> String { text("Nothing can be saved to \(place).", de: "Hier lässt sich nichts speichern: \(place).") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static var denialNothingMayBePastedFromOther: String { text("Nothing may be pasted from other apps into organisation data.", de: "Aus anderen Apps darf nichts in Organisationsdaten eingefügt werden.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialNotificationsShowNoOrganisationData: String { text("Notifications show no organisation data.", de: "Mitteilungen zeigen keine Organisationsdaten.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialNumbersAreDialledByManagedApps: String { text("Numbers are dialled by managed apps only.", de: "Nummern werden nur von verwalteten Apps gewählt.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialNumbersAreDialledByOneApp: String { text("Numbers are dialled by one app only.", de: "Nummern werden nur von einer bestimmten App gewählt.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialNumbersInOrganisationDataMayNot: String { text("Numbers in organisation data may not be dialled with this app.", de: "Nummern aus Organisationsdaten dürfen mit dieser App nicht gewählt werden.") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static var denialOnlyTextFromManagedAppsWith: String { text("Only text from managed apps with the same work account may be pasted here.", de: "Hier darf nur Text aus verwalteten Apps mit demselben Arbeitskonto eingefügt werden.") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static func denialOnlyTextsOfUpToCharacters(limit: Int) -> String { text("Only texts of up to \(limit) characters may be copied out.", de: "Nur Texte von höchstens \(limit) Zeichen dürfen hinauskopiert werden.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialOpenAppToSeeIt: String { text("Open the app to see it.", de: "Öffnen Sie die App, um es zu sehen.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialOpenAppToSeeWhatIs: String { text("Open the app to see what is new.", de: "Öffnen Sie die App, um Neues zu sehen.") }

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static var denialOpenItAsWebPage: String { text("Open it as a web page.", de: "Öffnen Sie es als Webseite.") }

    /// What a person is told of a denial (`OpenFromRule`).
    package static func denialOpenItFrom(places: String) -> String { text("Open it from \(places).", de: "Öffnen Sie es von einem dieser Orte: \(places).") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialOpenItInManagedAppOr: String { text("Open it in a managed app, or ask the administrator to exempt the scheme.", de: "Öffnen Sie es in einer verwalteten App, oder bitten Sie den Administrator, das Schema auszunehmen.") }

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static var denialOpenItThere: String { text("Open it there.", de: "Öffnen Sie es dort.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialOpenLinkThere: String { text("Open the link there.", de: "Öffnen Sie den Link dort.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialOpenMessageWithThatAppURL: String { text("Open the message with that app's URL scheme.", de: "Öffnen Sie die Nachricht mit dem URL-Schema dieser App.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialOpenNumberWithThatAppURL: String { text("Open the number with that app's URL scheme.", de: "Öffnen Sie die Nummer mit dem URL-Schema dieser App.") }

    /// What a person is told of a denial (`WebViewRules`).
    package static var denialOpenPageInManagedBrowser: String { text("Open the page in the managed browser.", de: "Öffnen Sie die Seite im verwalteten Browser.") }

    /// What a person is told of a denial (`OutgoingRule`).
    package static var denialOpenSuchURLOrChooseManaged: String { text("Open such a URL, or choose a managed app in which this account is signed in.", de: "Öffnen Sie eine solche URL, oder wählen Sie eine verwaltete App, in der dieses Konto angemeldet ist.") }

    /// What a person is told of a denial (`VersionRules`).
    package static func denialOperatingSystemIsTooNew(limit: String, version: String) -> String { text("The operating system is newer than accepted: \(version) (limit \(limit)).", de: "Das Betriebssystem ist neuer als erlaubt: \(version) (Grenze \(limit)).") }

    /// What a person is told of a denial (`VersionRules`).
    package static func denialOperatingSystemIsTooOld(limit: String, version: String) -> String { text("The operating system is too old: \(version) (limit \(limit)).", de: "Das Betriebssystem ist zu alt: \(version) (Grenze \(limit)).") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialOrganisationAsksForFreshSignIn: String { text("The organisation asks for a fresh sign-in.", de: "Die Organisation verlangt eine frische Anmeldung.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialOrganisationContactsStayOutOfAddress: String { text("Organisation contacts stay out of the address book.", de: "Kontakte der Organisation kommen nicht ins Adressbuch.") }

    /// What a person is told of a denial (`ContentEvaluationRule`).
    package static var denialOrganisationContentCheckCouldNotBe: String { text("The organisation's content check could not be made.", de: "Die Inhaltsprüfung der Organisation war nicht möglich.") }

    /// What a person is told of a denial (`ContentEvaluationRule`).
    package static var denialOrganisationContentCheckRefusedToShare: String { text("The organisation's content check refused to share this.", de: "Die Inhaltsprüfung der Organisation hat das Teilen abgelehnt.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialOrganisationDataAndActionsAreKept: String { text("Organisation data and actions are kept from Siri, shortcuts and other assistants.", de: "Organisationsdaten und Aktionen bleiben Siri, Kurzbefehlen und anderen Assistenten verborgen.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialOrganisationDataIsKeptOutOf: String { text("Organisation data is kept out of the system's search.", de: "Organisationsdaten bleiben der Suche des Systems verborgen.") }

    /// What a person is told of a denial (`OutgoingRule`).
    package static var denialOrganisationDataMayBeSentOnly: String { text("Organisation data may be sent only to managed apps with the same work account.", de: "Organisationsdaten dürfen nur an verwaltete Apps mit demselben Arbeitskonto gesendet werden.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialOrganisationDataMayNotBePrinted: String { text("Organisation data may not be printed.", de: "Organisationsdaten dürfen nicht gedruckt werden.") }

    /// What a person is told of a denial (`OutgoingRule`).
    package static var denialOrganisationDataMayNotBeSent: String { text("Organisation data may not be sent to any other app.", de: "Organisationsdaten dürfen an keine andere App gesendet werden.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialOrganisationDataMayNotBeSentAs: String { text("Organisation data may not be sent as a text message with this app.", de: "Organisationsdaten dürfen mit dieser App nicht als Textnachricht gesendet werden.") }

    /// What a person is told of a denial (`SharingRules`).
    package static var denialOrganisationDataMayNotBeShared: String { text("Organisation data may not be shared at all.", de: "Organisationsdaten dürfen gar nicht geteilt werden.") }

    /// What a person is told of a denial (`SaveAsRule`).
    package static var denialOrganisationDataMayNotLeaveThis: String { text("Organisation data may not leave this app, so no copy can be saved.", de: "Organisationsdaten dürfen diese App nicht verlassen; eine Kopie lässt sich daher nicht speichern.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialOrganisationDataMayOpenNoOther: String { text("Organisation data may open no other app.", de: "Organisationsdaten dürfen keine andere App öffnen.") }

    /// What a person is told of a denial (`OutgoingRule`).
    package static var denialOrganisationDataReachesExemptedAppOnly: String { text("Organisation data reaches an exempted app only by a URL whose scheme the policy exempts.", de: "Organisationsdaten gelangen in eine ausgenommene App nur durch eine URL, deren Schema die Richtlinie ausnimmt.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialOrganisationFilesAreWrittenEncryptedOnly: String { text("Organisation files are written encrypted only.", de: "Dateien der Organisation werden nur verschlüsselt geschrieben.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialOrganisationFilesStayOutOfBackups: String { text("Organisation files stay out of backups.", de: "Dateien der Organisation kommen nicht in Sicherungen.") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static var denialOrganisationTextMayBePastedOnly: String { text("Organisation text may be pasted only into managed apps with the same work account.", de: "Text der Organisation darf nur in verwaltete Apps mit demselben Arbeitskonto eingefügt werden.") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static var denialOrganisationTextMayNotBeCopied: String { text("Organisation text may not be copied out of this app.", de: "Text der Organisation darf nicht aus dieser App hinauskopiert werden.") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static var denialPasteItInSameWorkAccount: String { text("Paste it in the same work account.", de: "Fügen Sie ihn im selben Arbeitskonto ein.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialPictureOfScreenCouldBeSent: String { text("A picture of the screen could be sent to any app, and organisation data may not.", de: "Ein Bild des Bildschirms könnte an jede App gesendet werden, und Organisationsdaten dürfen das nicht.") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialPinIsTooOld: String { text("The PIN is too old.", de: "Die PIN ist zu alt.") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialPinWasEnteredWronglyTooOften: String { text("The PIN was entered wrongly too often.", de: "Die PIN wurde zu oft falsch eingegeben.") }

    /// What a person is told of a denial (`ConditionActions`).
    package static func denialPolicyActionDoesNotApply(message: String, why: String) -> String { text("\(message) The policy's action does not apply: \(why).", de: "\(message) Die Maßnahme der Richtlinie gilt hier nicht: \(why).") }

    /// What a person is told of a denial (`Evaluation`).
    package static func denialPolicyDemandsSomethingThisVersionDoes(settings: String) -> String { text("The policy demands something this version does not know: \(settings).", de: "Die Richtlinie verlangt etwas, was diese Version nicht kennt: \(settings).") }

    /// What a person is told of a denial (`FindingCollector`).
    package static func denialPolicyValueIsNotKnownTo(value: String) -> String { text(" The policy's value \(value) is not known to this version and counts as one that denies.", de: " Der Wert \(value) der Richtlinie ist dieser Version nicht bekannt und zählt als einer, der verbietet.") }

    /// What a person is told of a denial (`VersionRules`).
    package static func denialProtectionLibraryIsTooOld(limit: String, version: String) -> String { text("The protection library is too old: \(version) (limit \(limit)).", de: "Die Schutzbibliothek ist zu alt: \(version) (Grenze \(limit)).") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialReadItOnScreen: String { text("Read it on the screen.", de: "Lesen Sie es auf dem Bildschirm.") }

    /// What a person is told of a denial (`ContentEvaluationRule`).
    package static var denialRemoveSensitivePart: String { text("Remove the sensitive part.", de: "Entfernen Sie den vertraulichen Teil.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static var denialRemoveThreatsThatThreatDefenceLists: String { text("Remove the threats that the threat defence lists.", de: "Beseitigen Sie die Bedrohungen, die die Bedrohungsabwehr nennt.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static var denialRestoreDeviceSystem: String { text("Restore the device's system.", de: "Stellen Sie das System des Geräts wieder her.") }

    /// What a person is told of a denial (`SaveAsRule`).
    package static func denialSaveItToOfWorkAccount(places: String) -> String { text("Save it to one of these places of the work account: \(places).", de: "Speichern Sie es an einem dieser Orte des Arbeitskontos: \(places).") }

    /// What a person is told of a denial (`URLRule`).
    package static func denialSchemeOpensAppThatIsNot(scheme: String) -> String { text("The scheme \(scheme) opens an app that is not known to be managed.", de: "Das Schema \(scheme) öffnet eine App, von der nicht bekannt ist, dass sie verwaltet ist.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialScreenMayNotBeCapturedWhile: String { text("The screen may not be captured while organisation data is shown.", de: "Der Bildschirm darf nicht aufgenommen werden, während Organisationsdaten zu sehen sind.") }

    /// What a person is told of a denial (`IncomingRule`).
    package static var denialSendItFromManagedAppOr: String { text("Send it from a managed app, or receive it with a personal account.", de: "Senden Sie es aus einer verwalteten App, oder empfangen Sie es mit einem privaten Konto.") }

    /// What a person is told of a denial (`Evaluation`).
    package static var denialSetAccountForThisPieceOf: String { text("Set the account for this piece of work, or say that it is personal.", de: "Geben Sie das Konto an, für das dies geschieht, oder sagen Sie, dass es privat ist.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialSetClockAndCheckInWith: String { text("Set the clock and check in with the service.", de: "Stellen Sie die Uhr und verbinden Sie sich mit dem Dienst.") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialSetClockThenEnterPINOr: String { text("Set the clock, then enter the PIN or sign in again.", de: "Stellen Sie die Uhr, geben Sie dann die PIN ein oder melden Sie sich erneut an.") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialSetNewPIN: String { text("Set a new PIN.", de: "Wählen Sie eine neue PIN.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static var denialSetPasscodeInDeviceSettings: String { text("Set a passcode in the device's settings.", de: "Richten Sie in den Einstellungen des Geräts einen Gerätecode ein.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialShareLinkInstead: String { text("Share a link instead.", de: "Teilen Sie stattdessen einen Link.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialShowFixedTextAndOpenApp: String { text("Show a fixed text and open the app for the rest.", de: "Zeigen Sie einen festen Text, und öffnen Sie für alles Weitere die App.") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialSignInWithWorkAccount: String { text("Sign in with the work account.", de: "Melden Sie sich mit dem Arbeitskonto an.") }

    /// What a person is told of a denial (`AccessRules`).
    package static var denialSignInWithWorkAccountAnd: String { text("Sign in with the work account and set a new PIN.", de: "Melden Sie sich mit dem Arbeitskonto an und wählen Sie eine neue PIN.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialSystemWritingToolsAreOffIn: String { text("The system's writing tools are off in organisation text.", de: "Die Schreibwerkzeuge des Systems sind in Texten der Organisation abgeschaltet.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialTheyComeBackFromOrganisationOwn: String { text("They come back from the organisation's own servers.", de: "Sie kommen von den Servern der Organisation zurück.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static var denialThisDeviceModelIsNotAccepted: String { text("This device model is not accepted.", de: "Dieses Gerätemodell ist nicht zugelassen.") }

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static var denialThisLinkMayNotOpenUnmanaged: String { text("This link may not open an unmanaged app.", de: "Dieser Link darf keine Apps öffnen, die nicht verwaltet sind.") }

    /// What a person is told of a denial (`UniversalLinkRule`).
    package static var denialThisLinkOpensInItsManaged: String { text("This link opens in its managed app only.", de: "Dieser Link öffnet nur in seiner verwalteten App.") }

    /// What a person is told of a denial (`WebViewRules`).
    package static var denialThisPageTakesNoUploadsAnd: String { text("This page takes no uploads and no pasted text.", de: "Diese Seite nimmt weder Dateien noch eingefügten Text an.") }

    /// What a person is told of a denial (`SaveAsRule`).
    package static var denialThisPlaceDoesNotBelongTo: String { text("This place does not belong to the work account that owns the data.", de: "Dieser Ort gehört nicht zum Arbeitskonto, dem die Daten gehören.") }

    /// What a person is told of a denial (`OpenFromRule`).
    package static var denialThisSourceDoesNotBelongTo: String { text("This source does not belong to the work account that would receive the data.", de: "Dieser Ort gehört nicht zum Arbeitskonto, das die Daten erhalten würde.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialThisWorkAccountShowsNoNotifications: String { text("This work account shows no notifications.", de: "Dieses Arbeitskonto zeigt keine Mitteilungen.") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static var denialThisWorkAccountTakesDataFrom: String { text("This work account takes data from no other app.", de: "Dieses Arbeitskonto nimmt von keiner anderen App Daten an.") }

    /// What a person is told of a denial (`IncomingRule`).
    package static var denialThisWorkAccountTakesDataOnly: String { text("This work account takes data only from managed apps with the same work account.", de: "Dieses Arbeitskonto nimmt nur Daten aus verwalteten Apps mit demselben Arbeitskonto an.") }

    /// What a person is told of a denial (`OpenFromRule`).
    package static var denialThisWorkAccountTakesNoData: String { text("This work account takes no data from outside.", de: "Dieses Arbeitskonto nimmt keine Daten von außen an.") }

    /// What a person is told of a denial (`ContentEvaluationRule`).
    package static var denialTryAgainWhenItCanBe: String { text("Try again when it can be reached.", de: "Versuchen Sie es erneut, sobald sie erreichbar ist.") }

    /// What a person is told of a denial (`ClipboardRules`).
    package static var denialTypeTextHere: String { text("Type the text here.", de: "Tippen Sie den Text hier.") }

    /// What a person is told of a denial (`VersionRules`).
    package static var denialUpdateApp: String { text("Update the app.", de: "Aktualisieren Sie die App.") }

    /// What a person is told of a denial (`VersionRules`).
    package static var denialUpdateDevice: String { text("Update the device.", de: "Aktualisieren Sie das Gerät.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialUrlHasNoReadableScheme: String { text("The URL has no readable scheme.", de: "Die URL hat kein lesbares Schema.") }

    /// What a person is told of a denial (`SharingRules`).
    package static var denialUseAppItself: String { text("Use the app itself.", de: "Benutzen Sie die App selbst.") }

    /// What a person is told of a denial (`SharingRules`).
    package static var denialUseFullApp: String { text("Use the full app.", de: "Benutzen Sie die vollständige App.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static var denialUseListedDevice: String { text("Use a listed device.", de: "Benutzen Sie ein zugelassenes Gerät.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialUseOrdinaryEmoji: String { text("Use an ordinary emoji.", de: "Benutzen Sie ein gewöhnliches Emoji.") }

    /// What a person is told of a denial (`SaveAsRule`).
    package static var denialUsePlaceOfSameWorkAccount: String { text("Use the place of the same work account.", de: "Benutzen Sie den Ort desselben Arbeitskontos.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialUseSystemKeyboard: String { text("Use the system's keyboard.", de: "Benutzen Sie die Tastatur des Systems.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialUseWorkMail: String { text("Use work mail.", de: "Benutzen Sie die Mail des Arbeitskontos.") }

    /// What a person is told of a denial (`SharingRules`).
    package static var denialWebExtensionLivesInBrowserThat: String { text("A web extension lives in a browser that is not managed, so it gets no organisation data.", de: "Eine Web-Erweiterung gehört zu einem Browser, der nicht verwaltet ist, und erhält daher keine Organisationsdaten.") }

    /// What a person is told of a denial (`URLRule`).
    package static var denialWebLinksOpenInManagedBrowser: String { text("Web links open in the managed browser only.", de: "Web-Links öffnen nur im verwalteten Browser.") }

    /// What a person is told of a denial (`SystemRules`).
    package static var denialWidgetsShowNoOrganisationData: String { text("Widgets show no organisation data.", de: "Widgets zeigen keine Organisationsdaten.") }

    /// What a person is told of a denial (`DeviceRules`).
    package static var denialWorkAccountIsDisabled: String { text("The work account is disabled.", de: "Das Arbeitskonto ist deaktiviert.") }

    /// What a person is told of a denial (`OutputRules`).
    package static var denialWriteFileAsSealedFileOf: String { text("Write the file as a sealed file of the account.", de: "Schreiben Sie die Datei als versiegelte Datei des Kontos.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialYouHaveClockedOut: String { text("You have clocked out.", de: "Sie haben ausgestempelt.") }

    /// What a person is told of a denial (`ClockRules`).
    package static var denialYouHaveClockedOutThisApp: String { text("You have clocked out; this app closes soon.", de: "Sie haben ausgestempelt; diese App schließt bald.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static func gateAccountFilesCannotBeOpened(reason: String) -> String { text("The account's files cannot be opened: \(reason).", de: "Die Dateien des Kontos lassen sich nicht öffnen: \(reason).") }

    /// What a person is told at a closed gate or way out (`LaunchConditions`).
    package static var gateAdministratorDoesNotAdmitThisAccount: String { text("The administrator does not admit this account in this app.", de: "Der Administrator lässt dieses Konto in dieser App nicht zu.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static var gateAnotherPersonSignedIn: String { text("Another person signed in.", de: "Eine andere Person hat sich angemeldet.") }

    /// What a person is told at a closed gate or way out (`IdentityRequests`).
    package static var gateAppCouldNotTakeThisAccount: String { text("The app could not take this account's data off the screen, and ends now.", de: "Die App konnte die Daten dieses Kontos nicht vom Bildschirm nehmen und wird jetzt beendet.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt`).
    package static func gateCheckCouldNotBeMade(reason: String) -> String { text("A check could not be made: \(reason).", de: "Eine Prüfung war nicht möglich: \(reason).") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static var gateForgottenPINIsReplacedAfterSign: String { text("A forgotten PIN is replaced after a sign-in.", de: "Eine vergessene PIN wird nach einer Anmeldung ersetzt.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static var gateGoOnlineAndSignIn: String { text("Go online and sign in.", de: "Gehen Sie online und melden Sie sich an.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static var gateGoOnlineAndSignInWith: String { text("Go online and sign in with the work account.", de: "Gehen Sie online und melden Sie sich mit dem Arbeitskonto an.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt`).
    package static var gateItCanRemoveThisAccountData: String { text("It can remove this account's data from the app; your own data is not touched.", de: "Sie kann die Daten dieses Kontos aus der App löschen; Ihre eigenen Daten werden nicht berührt.") }

    /// What a person is told at a closed gate or way out (`EgressOutlets+Links`).
    package static func gateItIsNotKnownWhichApp(message: String) -> String { text("\(message) It is not known which app that is.", de: "\(message) Es ist nicht bekannt, welche App das ist.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt`).
    package static func gateItsRulesHoldForWorkAccount(name: String) -> String { text("Its rules hold for the work account \(name) alone.", de: "Ihre Regeln gelten nur für das Arbeitskonto \(name).") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static var gateNeitherPINNorServiceOpensFiles: String { text("Neither a PIN nor the service opens this account's files any more. They are kept, but cannot be opened here. Sign in to go on without them.", de: "Weder eine PIN noch der Dienst öffnet die Dateien dieses Kontos noch. Sie bleiben erhalten, lassen sich hier aber nicht öffnen. Melden Sie sich an, um ohne sie weiterzuarbeiten.") }

    /// What a person is told at a closed gate or way out (`GatePassing`).
    package static var gateNoOrganisationManagesThisAppYet: String { text("No organisation manages this app yet.", de: "Noch verwaltet keine Organisation diese App.") }

    /// What a person is told at a closed gate or way out (`IdentityRequests`).
    package static var gateOpenAppAgainAndAnswerWhat: String { text("Open the app again and answer what it asks.", de: "Öffnen Sie die App erneut und beantworten Sie, was sie fragt.") }

    /// What a person is told at a closed gate or way out (`GateState`).
    package static var gateOpenAppAndAnswerWhatIt: String { text("Open the app and answer what it asks.", de: "Öffnen Sie die App und beantworten Sie, was sie fragt.") }

    /// What a person is told at a closed gate or way out (`EgressOutlets+Links`).
    package static func gateOrAskAdministratorToNameIts(remedy: String) -> String { text("\(remedy) Or ask the administrator to name its URL scheme.", de: "\(remedy) Oder bitten Sie den Administrator, ihr URL-Schema anzugeben.") }

    /// What a person is told at a closed gate or way out (`AccountTable`).
    package static func gateOrganisationAsksForCordonThisApp(own: String, wanted: String) -> String { text("The organisation asks for Cordon \(wanted); this app has \(own).", de: "Die Organisation verlangt Cordon \(wanted); diese App hat \(own).") }

    /// What a person is told at a closed gate or way out (`GateState`).
    package static var gateOrganisationChecksAtLaunchWereNot: String { text("The organisation's checks at launch were not passed.", de: "Die Prüfungen der Organisation beim Start wurden nicht bestanden.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static var gatePinIsNotThereAnyMore: String { text("The PIN is gone.", de: "Die PIN ist nicht mehr da.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+PIN`).
    package static var gateSharedPINIsChosenAfterSign: String { text("The PIN that the organisation's apps share is chosen after a sign-in.", de: "Die gemeinsame PIN der Apps der Organisation wird nach einer Anmeldung gewählt.") }

    /// What a person is told at a closed gate or way out (`LaunchConditions`).
    package static var gateSignItOutOrAskAdministrator: String { text("Sign it out, or ask the administrator.", de: "Melden Sie es ab, oder fragen Sie den Administrator.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static var gateThisAccountFilesAreOpenedWith: String { text("Sign in once to open this account's files.", de: "Die Dateien dieses Kontos werden einmal durch eine Anmeldung geöffnet.") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static var gateThisDeviceHasLostKeyThat: String { text("This device has lost the key that opens this account's files. They are kept, but cannot be opened here any more. Sign in to go on without them.", de: "Dieses Gerät hat den Schlüssel verloren, der die Dateien dieses Kontos öffnet. Sie bleiben erhalten, lassen sich hier aber nicht mehr öffnen. Melden Sie sich an, um ohne sie weiterzuarbeiten.") }

    /// What a person is told at a closed gate or way out (`EgressOutlets+Telling`).
    package static var gateTryAnotherNetworkOrTellAdministrator: String { text("Try another network, or tell the administrator.", de: "Versuchen Sie ein anderes Netz, oder sagen Sie es dem Administrator.") }

    /// What a person is told at a closed gate or way out (`EgressOutlets+Telling`).
    package static func gateWhatAnsweredAsCouldNotBe(failure: Int, host: String) -> String { text("The server that answered as \(host) could not be verified (\(failure)).", de: "Was sich als \(host) meldete, konnte sich nicht als dieser Server ausweisen (\(failure)).") }

    /// What a person is told at a closed gate or way out (`LaunchAttempt+Key`).
    package static var gateWhatServiceHoldsDoesNotOpen: String { text("What the service holds does not open this account's files.", de: "Was der Dienst aufbewahrt, öffnet die Dateien dieses Kontos nicht.") }

    /// What a person is told at a closed gate or way out (`LaunchConditions`).
    package static var gateWhatThisAppRemembersWasRemoved: String { text("What this app remembers was removed or put back.", de: "Was diese App sich gemerkt hat, wurde entfernt oder zurückgesetzt.") }

    /// The heading of a notice of the kind `blocked`.
    package static var noticeBlocked: String { text("Your organisation's data stays closed.", de: "Die Daten Ihrer Organisation bleiben verschlossen.") }

    /// The heading of a notice of the kind `connectionBlocked`.
    package static var noticeConnectionBlocked: String { text("Your organisation does not trust this connection.", de: "Ihre Organisation vertraut dieser Verbindung nicht.") }

    /// The heading of a notice of the kind `managed`.
    package static var noticeManaged: String { text("Your organisation protects its data in this app.", de: "Ihre Organisation schützt ihre Daten in dieser App.") }

    /// What a notice says in place of a rule's question that could not be answered; what is one of the texts `notice.notKnown…`.
    package static func noticeNotKnown(what: String) -> String { text("This app cannot tell whether your organisation allows this, because it does not know \(what).", de: "Es lässt sich nicht sagen, ob Ihre Organisation das erlaubt, denn dieser App fehlt eine Angabe: \(what).") }

    /// What a notice says in place of a rule's question that could not be answered: the model of the device.
    package static var noticeNotKnownModel: String { text("which model this device is", de: "welches Modell dieses Gerät ist") }

    /// What a notice says in place of a rule's question that could not be answered: the passcode of the device.
    package static var noticeNotKnownPasscode: String { text("whether this device has a passcode", de: "ob dieses Gerät einen Gerätecode hat") }

    /// What a notice says in place of a rule's question that could not be answered: what helps.
    package static var noticeNotKnownRemedy: String { text("Try again in a moment. If this stays, ask your administrator.", de: "Versuchen Sie es gleich noch einmal. Wenn es so bleibt, fragen Sie Ihren Administrator.") }

    /// What a notice says in place of a rule's question that could not be answered: any other fact.
    package static var noticeNotKnownRest: String { text("everything that your organisation's rules look at", de: "etwas, wonach die Regeln Ihrer Organisation fragen") }

    /// What a notice says in place of a rule's question that could not be answered: a changed system.
    package static var noticeNotKnownRooted: String { text("whether this device was rooted or jailbroken", de: "ob dieses Gerät gerootet ist oder einen Jailbreak hat") }

    /// What a notice says in place of a rule's question that could not be answered: the level of threats.
    package static var noticeNotKnownThreat: String { text("how safe this device is", de: "wie sicher dieses Gerät ist") }

    /// The heading of a notice of the kind `printingBlocked`.
    package static var noticePrintingBlocked: String { text("Your organisation does not allow printing this.", de: "Ihre Organisation lässt dies nicht drucken.") }

    /// The heading of a notice of the kind `removed`.
    package static var noticeRemoved: String { text("Your organisation's data was removed from this app.", de: "Die Daten Ihrer Organisation wurden aus dieser App gelöscht.") }

    /// The heading of a notice of the kind `sharingBlocked`.
    package static var noticeSharingBlocked: String { text("Your organisation does not allow sharing this.", de: "Ihre Organisation lässt dies nicht teilen.") }

    /// The heading of a notice of the kind `warning`.
    package static var noticeWarning: String { text("Your organisation asks for your attention.", de: "Ihre Organisation bittet um Aufmerksamkeit.") }

    /// The body of a notification whose content the organisation's rules keep back.
    package static var notificationHidden: String { text("Open the app to read it.", de: "Öffnen Sie die App, um es zu lesen.") }

    /// Why a new PIN is refused: `digitsOnly`.
    package static var pinDigitsOnly: String { text("Only digits will do.", de: "Nur Ziffern sind erlaubt.") }

    /// Why a new PIN is refused: `needsDigitLetterAndSymbol`.
    package static var pinNeedsDigitLetterAndSymbol: String { text("It needs a digit, a letter and a symbol.", de: "Sie braucht eine Ziffer, einen Buchstaben und ein Sonderzeichen.") }

    /// Why a new PIN is refused: `needsLetterOrSymbol`.
    package static var pinNeedsLetterOrSymbol: String { text("It needs a letter or a symbol.", de: "Sie braucht einen Buchstaben oder ein Sonderzeichen.") }

    /// Why a new PIN is refused: it is too short.
    package static func pinTooShort(minimum: Int) -> String { text(minimum == 1 ? "It needs at least one character." : "It needs at least \(minimum) characters.", de: minimum == 1 ? "Sie muss mindestens ein Zeichen haben." : "Sie muss mindestens \(minimum) Zeichen haben.") }

    /// Why a new PIN is refused: `tooSimple`.
    package static var pinTooSimple: String { text("Runs such as 123 or 111 will not do.", de: "Folgen wie 123 oder 111 sind nicht erlaubt.") }

    /// How many more times a PIN may be entered, inside a sentence.
    package static func pinTries(count: Int) -> String { text(count == 1 ? "one try" : "\(count) tries", de: count == 1 ? "ein Versuch" : "\(count) Versuche") }

    /// Why a new PIN is refused: `usedBefore`.
    package static var pinUsedBefore: String { text("It was used before.", de: "Sie wurde schon einmal benutzt.") }

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static var placeCamera: String { text("the camera", de: "die Kamera") }

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static var placeOfAccount: String { text("a place of the account's own", de: "ein Ort des Kontos selbst") }

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static var placeOwnStorage: String { text("this app's own storage", de: "der eigene Speicher dieser App") }

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static var placePhotoLibrary: String { text("the photo library", de: "die Fotomediathek") }

    /// A place as a denial names it, where it is no product with a name (`Location`).
    package static var placeUnlisted: String { text("a place that the organisation does not list", de: "ein Ort, den die Organisation nicht nennt") }

    /// What to tell a person whose account is not protected, for the cause `rootedDevice`.
    package static var remediationCauseRootedDevice: String { text("This device is rooted or jailbroken, so your organisation does not accept it for work.", de: "Dieses Gerät ist gerootet oder hat einen Jailbreak; Ihre Organisation lässt es daher nicht für die Arbeit zu.") }

    /// What to tell a person whose account is not protected, for the cause `signInAgain`.
    package static var remediationCauseSignInAgain: String { text("Sign in again, so that your organisation's rules can protect this account.", de: "Melden Sie sich erneut an, damit die Regeln Ihrer Organisation dieses Konto schützen können.") }

    /// What to tell a person whose account is not protected, for the cause `userBlocked`.
    package static var remediationCauseUserBlocked: String { text("Your organisation has blocked this account. Ask the administrator.", de: "Ihre Organisation hat dieses Konto gesperrt. Fragen Sie den Administrator.") }

    /// What to tell a person whose account is not protected, for the cause `wipePending`.
    package static var remediationCauseWipePending: String { text("Your organisation is about to remove this account's data from this app.", de: "Ihre Organisation ist dabei, die Daten dieses Kontos aus dieser App zu löschen.") }

    /// What to tell a person when protecting an account ended as `compliant`.
    package static var remediationCompliant: String { text("Your organisation's rules protect this account now.", de: "Die Regeln Ihrer Organisation schützen dieses Konto jetzt.") }

    /// What to tell a person when protecting an account ended as `interactionRequired`.
    package static var remediationInteractionRequired: String { text("Sign in again, so that your organisation's rules can protect this account.", de: "Melden Sie sich erneut an, damit die Regeln Ihrer Organisation dieses Konto schützen können.") }

    /// What to tell a person when protecting an account ended as `networkFailure`.
    package static var remediationNetworkFailure: String { text("Your organisation's service cannot be reached. Try again when you are online.", de: "Der Dienst Ihrer Organisation ist nicht erreichbar. Versuchen Sie es erneut, wenn Sie online sind.") }

    /// What to tell a person when protecting an account ended as `notCompliant`.
    package static var remediationNotCompliant: String { text("Your organisation has no rules for this account in this app, so it cannot be used here.", de: "Ihre Organisation hat für dieses Konto in dieser App keine Regeln; es kann hier nicht benutzt werden.") }

    /// What to tell a person when protecting an account ended as `serviceFailure`.
    package static var remediationServiceFailure: String { text("Your organisation's service could not protect this account. Try again later.", de: "Der Dienst Ihrer Organisation konnte dieses Konto nicht schützen. Versuchen Sie es später erneut.") }

    /// The heading when protecting an account ended as `compliant`.
    package static var remediationTitleCompliant: String { text("Protected", de: "Geschützt") }

    /// The heading when protecting an account ended as `interactionRequired`.
    package static var remediationTitleInteractionRequired: String { text("Sign in", de: "Anmelden") }

    /// The heading when protecting an account ended as `networkFailure`.
    package static var remediationTitleNetworkFailure: String { text("No connection", de: "Keine Verbindung") }

    /// The heading when protecting an account ended as `notCompliant`.
    package static var remediationTitleNotCompliant: String { text("Not protected", de: "Nicht geschützt") }

    /// The heading when protecting an account ended as `serviceFailure`.
    package static var remediationTitleServiceFailure: String { text("Try again later", de: "Später erneut versuchen") }

    /// The heading when protecting an account ended as `userCancelled`.
    package static var remediationTitleUserCancelled: String { text("Cancelled", de: "Abgebrochen") }

    /// What to tell a person when protecting an account ended as `userCancelled`.
    package static var remediationUserCancelled: String { text("The account was not added, because the sign-in was cancelled.", de: "Das Konto wurde nicht hinzugefügt, weil die Anmeldung abgebrochen wurde.") }

    /// What an app that shows a dialog of its own says when it restarts for new rules (`AppProtection+Verbs`).
    package static var restartMessage: String { text("Your organisation now protects its data in this app. Restart the app to see it as your organisation wants it.", de: "Ihre Organisation schützt jetzt ihre Daten in dieser App. Starten Sie die App neu, um sie so zu sehen, wie Ihre Organisation es möchte.") }

    /// Whose data a screen is about, by the name the person signs in with.
    package static func screenAccount(name: String) -> String { text("Account: \(name)", de: "Konto: \(name)") }

    /// A button that cancels.
    package static var screenAnswerCancel: String { text("Cancel", de: "Abbrechen") }

    /// A button that goes on.
    package static var screenAnswerContinue: String { text("Continue", de: "Weiter") }

    /// A button that has the device recognise a face instead of the PIN.
    package static var screenAnswerFace: String { text("Use Face ID", de: "Face ID verwenden") }

    /// A button that has the device recognise a finger instead of the PIN.
    package static var screenAnswerFinger: String { text("Use Touch ID", de: "Touch ID verwenden") }

    /// A button for a person who does not know the PIN any more.
    package static var screenAnswerForgotPIN: String { text("Forgot PIN", de: "PIN vergessen") }

    /// A button that begins a sign-in.
    package static var screenAnswerSignIn: String { text("Sign in", de: "Anmelden") }

    /// A button that looks once more whether a cause is gone.
    package static var screenAnswerTryAgain: String { text("Try again", de: "Erneut versuchen") }

    /// How long until the data closes.
    package static func screenCountdownBlock(time: String) -> String { text("Without contact to the organisation this account's data closes in \(time).", de: "Ohne Verbindung zur Organisation werden die Daten dieses Kontos verschlossen (noch \(time)).") }

    /// The heading of the screen that says how long the app may be without contact.
    package static var screenCountdownTitle: String { text("Connect to your organisation", de: "Verbinden Sie sich mit Ihrer Organisation") }

    /// How long until the data closes, and until it is removed.
    package static func screenCountdownWipe(later: String, time: String) -> String { text("Without contact to the organisation this account's data closes in \(time) and is removed in \(later).", de: "Ohne Verbindung zur Organisation werden die Daten dieses Kontos verschlossen (noch \(time)) und gelöscht (noch \(later)).") }

    /// The heading of the screen that covers an organisation's data.
    package static var screenCoverTitle: String { text("Your organisation's data is covered.", de: "Die Daten Ihrer Organisation sind verdeckt.") }

    /// How long a new PIN with letters or symbols has to be.
    package static func screenNewPINCharacters(count: Int) -> String { text(count == 1 ? "A letter or symbol at least." : "At least \(count) characters, with a letter or symbol.", de: count == 1 ? "Mindestens ein Buchstabe oder Sonderzeichen." : "Mindestens \(count) Zeichen, darunter ein Buchstabe oder Sonderzeichen.") }

    /// The new PIN and its repetition differ.
    package static var screenNewPINDiffers: String { text("The two PINs do not match.", de: "Die beiden stimmen nicht überein.") }

    /// How long a new PIN of digits has to be.
    package static func screenNewPINDigits(count: Int) -> String { text(count == 1 ? "At least one digit." : "At least \(count) digits.", de: count == 1 ? "Mindestens eine Ziffer." : "Mindestens \(count) Ziffern.") }

    /// The heading of the screen on which a new PIN is typed again.
    package static var screenNewPINRepeat: String { text("Enter the same PIN again", de: "Geben Sie dieselbe PIN noch einmal ein") }

    /// The heading of the screen on which a new PIN is chosen.
    package static var screenNewPINTitle: String { text("Choose a PIN", de: "Wählen Sie eine PIN") }

    /// What was typed has other characters than digits; it was not counted as a guess.
    package static var screenPinDigitsOnly: String { text("The PIN has digits only; that was not tried.", de: "Die PIN hat nur Ziffern; das wurde nicht als Versuch gezählt.") }

    /// The label of the field in which a PIN is typed.
    package static var screenPinField: String { text("PIN", de: "PIN") }

    /// The PIN that is asked for is the one that the app had before it came to share one with other apps.
    package static var screenPinFormer: String { text("Enter the PIN that this app had before it shared one with other apps. Nothing else opens this account's files.", de: "Geben Sie die PIN ein, die diese App hatte, bevor sie eine mit anderen Apps teilte. Nichts anderes öffnet die Dateien dieses Kontos.") }

    /// Why the device is asked to recognise the person.
    package static func screenPinReason(name: String) -> String { text("Open the data of \(name).", de: "Die Daten von \(name) öffnen.") }

    /// The heading of the screen that asks for the PIN.
    package static var screenPinTitle: String { text("Enter the PIN", de: "Geben Sie die PIN ein") }

    /// How long to wait before the next guess.
    package static func screenPinWait(time: String) -> String { text("Wait \(time) before the next try.", de: "Warten Sie vor dem nächsten Versuch (noch \(time)).") }

    /// The guess before was wrong; `tries` is a number of tries in words.
    package static func screenPinWrong(tries: String) -> String { text("Wrong PIN; \(tries) left.", de: "Das ist nicht die PIN; noch \(tries).") }

    /// Who is to sign in afresh.
    package static func screenSignInAs(name: String) -> String { text("Sign in as \(name).", de: "Melden Sie sich als \(name) an.") }

    /// The heading of the screen that asks for a fresh sign-in.
    package static var screenSignInTitle: String { text("Sign in again", de: "Melden Sie sich erneut an") }

    /// Why no fresh sign-in can begin: the app has none.
    package static var screenSignInUnavailable: String { text("This app has no way to sign in.", de: "Diese App bietet keine Anmeldung.") }

    /// The next step `askAdministrator` of an enrolment, in words.
    package static var stepAskAdministrator: String { text("Ask the administrator for a licence or a policy; Cordon tries again by itself.", de: "Bitten Sie den Administrator um eine Lizenz oder eine Richtlinie; Cordon versucht es von selbst erneut.") }

    /// The next step `chooseAccount` of an enrolment, in words.
    package static var stepChooseAccount: String { text("Use an account that belongs here, or remove the enrolled one first.", de: "Benutzen Sie ein Konto, das hierher gehört, oder entfernen Sie zuerst das registrierte.") }

    /// The next step `enroll` of an enrolment, in words.
    package static var stepEnroll: String { text("Enrol the account first.", de: "Registrieren Sie zuerst das Konto.") }

    /// The next step `freeData` of an enrolment, in words.
    package static var stepFreeData: String { text("Close what uses the account's data, then ask for the wipe again.", de: "Schließen Sie, was die Daten des Kontos benutzt, und verlangen Sie die Löschung dann noch einmal.") }

    /// The next step `mendApp` of an enrolment, in words.
    package static var stepMendApp: String { text("Fix the app: the call or its configuration is wrong.", de: "Korrigieren Sie die App: Der Aufruf oder ihre Konfiguration stimmt nicht.") }

    /// The next step `nothing` of an enrolment, in words.
    package static var stepNothing: String { text("Nothing needs to be done.", de: "Es ist nichts zu tun.") }

    /// The next step `removeAccount` of an enrolment, in words.
    package static var stepRemoveAccount: String { text("Remove the account from the app.", de: "Entfernen Sie das Konto aus der App.") }

    /// The next step `signIn` of an enrolment, in words.
    package static var stepSignIn: String { text("Sign in again.", de: "Melden Sie sich erneut an.") }

    /// The next step `updateApp` of an enrolment, in words.
    package static var stepUpdateApp: String { text("Install a newer version of the app.", de: "Installieren Sie eine neuere Version der App.") }

    /// A part of a theme, in `terminal.refused`.
    package static var terminalAccentWithoutColours: String { text("an accent colour without colours", de: "eine Akzentfarbe ohne Farben") }

    /// A part of a theme, in `terminal.refused`.
    package static var terminalBackground: String { text("a background colour", de: "eine Hintergrundfarbe") }

    /// The line above a report for support.
    package static var terminalDiagnostics: String { text("── diagnostics ──", de: "── Diagnose ──") }

    /// The request for the PIN of `name`, who may not cancel.
    package static func terminalEnterPin(name: String) -> String { text("PIN of \(name) (? when forgotten):", de: "PIN von \(name) (?, wenn vergessen):") }

    /// The request for the PIN of `name`, who may cancel.
    package static func terminalEnterPinOrCancel(name: String) -> String { text("PIN of \(name) (? when forgotten, an empty line to cancel):", de: "PIN von \(name) (?, wenn vergessen; eine leere Zeile bricht ab):") }

    /// A part of a theme, in `terminal.refused`.
    package static var terminalLightAndDark: String { text("light and dark", de: "Hell und Dunkel") }

    /// The request for a new PIN of `name`, of any characters.
    package static func terminalNewPin(minimum: Int, name: String) -> String { text("New PIN of \(name), at least \(minimum) characters, with a letter or symbol:", de: "Neue PIN von \(name), mindestens \(minimum) Zeichen, darunter ein Buchstabe oder Sonderzeichen:") }

    /// The request to type a new PIN once more.
    package static var terminalNewPinAgain: String { text("The same again:", de: "Dieselbe noch einmal:") }

    /// The request for a new PIN of `name`, of digits alone.
    package static func terminalNewPinOfDigits(minimum: Int, name: String) -> String { text("New PIN of \(name), at least \(minimum) digits:", de: "Neue PIN von \(name), mindestens \(minimum) Ziffern:") }

    /// The answer to a fresh sign-in where the program has none.
    package static var terminalNoSignIn: String { text("This program has no way to sign in.", de: "Dieses Programm bietet keine Anmeldung.") }

    /// A part of a theme that a terminal leaves out. `what` is one of the texts from `terminal.splashPicture` to `terminal.accentWithoutColours`.
    package static func terminalRefused(what: String) -> String { text("A terminal cannot show \(what).", de: "Ein Terminal kann dies nicht zeigen: \(what).") }

    /// A part of a theme, in `terminal.refused`.
    package static var terminalSideAreas: String { text("side areas", de: "Seitenbereiche") }

    /// The request to sign in as `name`; `message` is a sentence that says why.
    package static func terminalSignIn(message: String, name: String) -> String { text("\(message) Sign in as \(name).", de: "\(message) Melden Sie sich als \(name) an.") }

    /// A part of a theme, in `terminal.refused`.
    package static var terminalSplashPicture: String { text("a splash picture", de: "ein Startbild") }

    /// A part of a theme, in `terminal.refused`.
    package static var terminalSplashScreen: String { text("a splash screen", de: "ein Startbildschirm") }

    /// The line above everything that the protection asks in a terminal.
    package static var terminalTakeOver: String { text("── your organisation's protection ──", de: "── der Schutz Ihrer Organisation ──") }

    /// The same for one account, named by its id.
    package static func terminalTakeOverFor(account: String) -> String { text("── \(account): your organisation's protection ──", de: "── \(account): der Schutz Ihrer Organisation ──") }

    /// A part of a theme, in `terminal.refused`.
    package static var terminalTextColour: String { text("a text colour", de: "eine Textfarbe") }

    /// Shown when a choice between numbered answers is answered otherwise.
    package static var terminalTypeNumber: String { text("Type one of the numbers.", de: "Tippen Sie eine der Nummern.") }

    /// A length of time, rounded up, inside a sentence.
    package static func timeDays(count: Int) -> String { text(count == 1 ? "one day" : "\(count) days", de: count == 1 ? "ein Tag" : "\(count) Tage") }

    /// A length of time, rounded up, inside a sentence.
    package static func timeHours(count: Int) -> String { text(count == 1 ? "one hour" : "\(count) hours", de: count == 1 ? "eine Stunde" : "\(count) Stunden") }

    /// A length of time, rounded up, inside a sentence.
    package static func timeMinutes(count: Int) -> String { text(count == 1 ? "one minute" : "\(count) minutes", de: count == 1 ? "eine Minute" : "\(count) Minuten") }

    /// A length of time, rounded up, inside a sentence.
    package static func timeSeconds(count: Int) -> String { text(count == 1 ? "one second" : "\(count) seconds", de: count == 1 ? "eine Sekunde" : "\(count) Sekunden") }

    private static func text(_ en: @autoclosure () -> String, de: @autoclosure () -> String) -> String {
        switch TextLanguage.current {
        case .en: en()
        case .de: de()
        }
    }
}

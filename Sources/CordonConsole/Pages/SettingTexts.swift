import CordonPolicy

/// What the settings of a policy are called, and what each does.
enum SettingTexts {
    struct Text {
        var label: Phrase
        var help: Phrase
    }

    static func text(of name: String) -> Text {
        texts[name].map { Text(label: $0.0, help: $0.1) } ?? Text(label: .data(name), help: "")
    }

    static func title(of group: SettingDescription.Group) -> Phrase {
        switch group {
        case .transfer: "Data protection"
        case .access: "Access requirements"
        case .launch: "Conditional launch"
        case .storage: "Storage"
        }
    }

    static func help(of group: SettingDescription.Group) -> Phrase {
        switch group {
        case .transfer: "Where organisation data may come from and go to."
        case .access: "What a person does before organisation data is shown."
        case .launch: "What must be true of device, app and account, and what happens where it is not."
        case .storage: "How organisation data rests on the device."
        }
    }

    /// A value as people read it.
    ///
    /// - Parameter setting: Whose value it is; a length of zero means never for some.
    static func value(_ value: JSONValue, of setting: String = "") -> Phrase {
        switch value {
        case "PT0S" where PeriodTexts.isNever("PT0S", of: setting): "never"
        case .null: "not set"
        case .bool(let flag): flag ? "yes" : "no"
        case .string(let text) where text.isEmpty: "not set"
        case .string(let text) where isFree(setting): .data(text)
        case .string(let text): PeriodTexts.words(text) ?? words(text)
        case .array(let list):
            list.isEmpty
                ? "none" : .list(list.map { $0.string.map(words) ?? .data($0["value"]?.string ?? $0.text()) })
        default: .data(value.text())
        }
    }

    /// Whether a member is what people write, and neither a name of a value nor a length of time.
    private static func isFree(_ member: String) -> Bool {
        if ["displayName", "description"].contains(member) { return true }
        return SettingDescription.all.contains { $0.name == member && $0.names.isEmpty }
            && !PeriodTexts.isPeriod(member)
    }

    /// Names that are written as their makers do.
    private static let proper = [
        "oneDriveForBusiness": "OneDrive for Business", "sharePoint": "SharePoint", "iManage": "iManage",
        "googleDrive": "Google Drive", "microsoftEdge": "Microsoft Edge", "box": "Box", "dropbox": "Dropbox",
        "egnyte": "Egnyte",
    ]

    /// Names that say less in words than what they mean.
    private static let clearer: [String: Phrase] = [
        "blockOrganizationalData": "hide organisation data",
        "blockWhenSettingIsSupported": "block where it is supported",
        "defenderOverThirdPartyPartner": "Defender before another maker's",
        "thirdPartyPartnerOverDefender": "another maker's before Defender",
    ]

    /// A name of a value in words: `managedAppsWithPasteIn` as "managed apps with paste in".
    static func words(_ name: String) -> Phrase {
        if let known = proper[name] { return .data(known) }
        if let known = clearer[name] { return known }
        guard name.first?.isLowercase ?? false, name.allSatisfy({ $0.isLetter || $0.isNumber }) else {
            return .data(name)
        }
        return .said(
            name.reduce(into: "") { words, letter in
                words += letter.isUppercase ? " " + letter.lowercased() : String(letter)
            })
    }

    private static let period: Phrase = "A length of time, such as 30 minutes, 12 hours or 90 days."
    private static let periodOrNever: Phrase =
        "A length of time, such as 30 minutes, 12 hours or 90 days; or never."
    private static let version: Phrase = "A version such as 17.4; empty for none."

    private static let texts: [String: (Phrase, Phrase)] = [
        "apps": ("Apps", ""),
        "displayName": ("Name", ""), "description": ("Description", ""), "roleScopeTagIds": ("Scope tags", ""),
        "assignments": ("Reaches", ""), "appGroupType": ("This policy protects", ""),
        "targetedAppManagementLevels": ("On", ""),
        "allowedInboundDataTransferSources": (
            "Receive data from", "Apps from which organisation documents may be received."
        ),
        "allowedOutboundDataTransferDestinations": (
            "Send data to",
            "Apps that may be given organisation data. With managed apps, data stays among protected apps."
        ),
        "allowedOutboundClipboardSharingLevel": ("Cut, copy and paste", "Between which apps text may be copied."),
        "allowedOutboundClipboardSharingExceptionLength": (
            "Characters that may always be copied", "Up to this many characters leave whatever the setting above says."
        ),
        "saveAsBlocked": ("Block saving copies", "Copies may be saved to the places below alone."),
        "allowedDataStorageLocations": ("Places where copies may be saved", "Exceptions from the block above."),
        "blockDataIngestionIntoOrganizationDocuments": (
            "Block opening from elsewhere", "Data may be brought in from the places below alone."
        ),
        "allowedDataIngestionLocations": ("Places to open from", "Exceptions from the block above."),
        "contactSyncBlocked": (
            "Block contacts in the device's address book", "Organisation contacts are not copied to the device."
        ),
        "printBlocked": ("Block printing", "Organisation data cannot be printed."),
        "notificationRestriction": (
            "Notifications", "How much of organisation data a notification shows on a locked screen."
        ),
        "dialerRestrictionLevel": (
            "Telephone numbers open in", "The app that dials a number tapped in organisation data."
        ),
        "customDialerAppProtocol": ("Scheme of the telephone app", "Such as skype; only for a custom app."),
        "protectedMessagingRedirectAppType": (
            "Messages open in", "The app that writes a message to a number in organisation data."
        ),
        "messagingRedirectAppUrlScheme": ("Scheme of the messaging app", "Only for a certain app."),
        "managedBrowserToOpenLinksRequired": (
            "Open web links in a certain browser", "Links in organisation data open in the browser below."
        ),
        "managedBrowser": ("Browser for links", ""),
        "customBrowserProtocol": ("Scheme of the browser", "For a browser of your own choice."),
        "allowWidgetContentSync": ("Allow organisation data in widgets", "Widgets are seen on a locked screen."),
        "exemptedAppProtocols": (
            "URL schemes that may be opened", "Schemes with a semicolon between. Data in them leaves the protection."
        ),
        "exemptedUniversalLinks": (
            "Links that open outside", "Addresses, one a line, that may open an app that is not protected."
        ),
        "managedUniversalLinks": ("Links that open protected apps", "Addresses, one a line."),
        "thirdPartyKeyboardsBlocked": ("Block other keyboards", "A keyboard of another maker sees what is typed."),
        "filterOpenInToOnlyManagedApps": ("Show only protected apps when sharing", ""),
        "disableProtectionOfManagedOutboundOpenInData": (
            "Do not protect data sent by Open In",
            "Data leaves without protection: only for apps that a device management guards."
        ),
        "protectInboundDataFromUnknownSources": (
            "Protect data from unknown sources", "What comes in from an unknown app counts as the organisation's."
        ),
        "screenCaptureConfigurationState": ("Screen capture", "Whether pictures of organisation data may be taken."),
        "genmojiConfigurationState": (
            "Generated emoji", "Whether the system may make pictures from organisation text."
        ),
        "writingToolsConfigurationState": ("Writing tools", "Whether the system may rewrite organisation text."),
        "purviewContentEvaluationRequired": (
            "Have content judged before sharing", "Apps without an evaluator cannot share anything then."
        ),
        "organizationalCredentialsRequired": (
            "Sign in for access", "The work account's sign-in in place of, or besides, a PIN."
        ),
        "pinRequired": ("PIN for access", "People type a PIN of the app before they see organisation data."),
        "pinCharacterSet": ("Kind of PIN", "Digits; letters and digits; or these with a symbol."),
        "simplePinBlocked": ("Block simple PINs", "No 1234, 1111 and the like."),
        "minimumPinLength": ("Shortest PIN", "Characters."),
        "maximumPinRetries": ("Attempts", "Wrong PINs before the action below."),
        "appActionIfMaximumPinRetriesExceeded": (
            "After too many wrong PINs", "Wipe removes organisation data from the app."
        ),
        "periodBeforePinReset": ("PIN must be changed after", periodOrNever),
        "previousPinBlockCount": ("Old PINs that may not come back", "How many."),
        "fingerprintBlocked": ("Block Touch ID in place of the PIN", ""),
        "faceIdBlocked": ("Block Face ID in place of the PIN", ""),
        "pinRequiredInsteadOfBiometricTimeout": ("Ask for the PIN in place of biometrics after", periodOrNever),
        "disableAppPinIfDevicePinIsSet": (
            "No PIN where the device has one", "The device's own passcode is enough then."
        ),
        "periodOnlineBeforeAccessCheck": ("Ask again after", "Inactivity while online. \(period)"),
        "deviceComplianceRequired": ("Refuse devices that are jailbroken", ""),
        "appActionIfDeviceComplianceRequired": (
            "On a jailbroken device", "Wipe removes organisation data from the app."
        ),
        "periodOfflineBeforeAccessCheck": ("Offline until access is refused", period),
        "periodOfflineBeforeWipeIsEnforced": ("Offline until organisation data is wiped", periodOrNever),
        "minimumRequiredOsVersion": ("Lowest system version: refuse below", version),
        "minimumWarningOsVersion": ("Lowest system version: warn below", version),
        "minimumWipeOsVersion": ("Lowest system version: wipe below", version),
        "maximumRequiredOsVersion": ("Highest system version: refuse above", version),
        "maximumWarningOsVersion": ("Highest system version: warn above", version),
        "maximumWipeOsVersion": ("Highest system version: wipe above", version),
        "minimumRequiredAppVersion": ("Lowest app version: refuse below", version),
        "minimumWarningAppVersion": ("Lowest app version: warn below", version),
        "minimumWipeAppVersion": ("Lowest app version: wipe below", version),
        "minimumRequiredSdkVersion": ("Lowest protection library: refuse below", version),
        "minimumWarningSdkVersion": ("Lowest protection library: warn below", version),
        "minimumWipeSdkVersion": ("Lowest protection library: wipe below", version),
        "maximumAllowedDeviceThreatLevel": (
            "Highest threat level of the device", "Needs a threat-defence connector: devices without one are refused."
        ),
        "mobileThreatDefenseRemediationAction": (
            "On a device with a higher threat", "Wipe removes organisation data from the app."
        ),
        "mobileThreatDefensePartnerPriority": ("Connector that counts", ""),
        "appActionIfUnableToAuthenticateUser": (
            "When the account is disabled or gone", "What apps do with organisation data then."
        ),
        "gracePeriodToBlockAppsDuringOffClockHours": ("Grace after work ends", period),
        "allowedIosDeviceModels": (
            "Models that are allowed", "Such as iPhone15,2 with a semicolon between; empty for every model."
        ),
        "appActionIfIosDeviceModelNotAllowed": ("On another model", "Wipe removes organisation data from the app."),
        "appActionIfAccountIsClockedOut": ("Outside of working time", "Needs a source of working times."),
        "dataBackupBlocked": ("Block backups", "Organisation data is left out of the device's backups."),
        "appDataEncryptionType": ("When organisation data is locked", "With the device locked, or after its restart."),
    ]
}

import CordonPolicy
import CordonTestSupport
import CordonTesting

/// Random policies and questions in the JSON that the product reads.
enum PolicyGenerator {
    static let choices: [(name: String, strictestFirst: [JSONValue])] = [
        ("allowedInboundDataTransferSources", ["none", "managedApps", "allApps"]),
        ("allowedOutboundDataTransferDestinations", ["none", "managedApps", "allApps"]),
        ("allowedOutboundClipboardSharingLevel", ["blocked", "managedApps", "managedAppsWithPasteIn", "allApps"]),
        ("allowedOutboundClipboardSharingExceptionLength", [0, 3, 10]),
        ("saveAsBlocked", [true, false]),
        (
            "allowedDataStorageLocations",
            [[], ["sharePoint"], ["sharePoint", "localStorage"], ["sharePoint", "localStorage", "photoLibrary"]]
        ),
        ("blockDataIngestionIntoOrganizationDocuments", [true, false]),
        (
            "allowedDataIngestionLocations",
            [[], ["camera"], ["camera", "sharePoint"], ["camera", "sharePoint", "photoLibrary"]]
        ),
        ("contactSyncBlocked", [true, false]), ("printBlocked", [true, false]),
        ("notificationRestriction", ["block", "blockOrganizationalData", "allow"]),
        ("dialerRestrictionLevel", ["blocked", "customApp", "managedApps", "allApps"]),
        ("protectedMessagingRedirectAppType", ["blocked", "specificApps", "anyManagedApp", "anyApp"]),
        ("managedBrowserToOpenLinksRequired", [true, false]), ("allowWidgetContentSync", [false, true]),
        ("exemptedAppProtocols", [[], [["name": "Default", "value": "mailto"]]]),
        ("exemptedUniversalLinks", [[], ["https://maps.example.com"]]),
        ("managedUniversalLinks", [["https://maps.example.com"], []]),
        ("thirdPartyKeyboardsBlocked", [true, false]),
        ("screenCaptureConfigurationState", ["blocked", .null, "notBlocked"]),
        ("genmojiConfigurationState", ["blocked", "notBlocked"]),
        ("writingToolsConfigurationState", ["blocked", "notBlocked"]),
        ("purviewContentEvaluationRequired", ["required", "requiredWhenOnline", "notRequired"]),
        ("organizationalCredentialsRequired", [true, false]), ("pinRequired", [true, false]),
        ("maximumPinRetries", [1, 3, 5]), ("appActionIfMaximumPinRetriesExceeded", ["wipe", "block"]),
        ("periodBeforePinReset", ["P1D", "P90D", "PT0S"]), ("disableAppPinIfDevicePinIsSet", [false, true]),
        ("periodOnlineBeforeAccessCheck", ["PT1M", "PT30M", "P1D"]),
        ("deviceComplianceRequired", [true, false]),
        ("appActionIfDeviceComplianceRequired", ["wipe", "warn", "block", "blockWhenSettingIsSupported"]),
        ("periodOfflineBeforeAccessCheck", ["PT10M", "PT12H", "P30D"]),
        ("periodOfflineBeforeWipeIsEnforced", ["P1D", "P90D", "PT0S"]),
        ("minimumRequiredOsVersion", ["17.0", "16.0", .null]), ("minimumWarningOsVersion", ["18.0", "17.1", .null]),
        ("minimumWipeOsVersion", ["16.5", "15.0", .null]), ("maximumRequiredOsVersion", ["17", "26.0", .null]),
        ("maximumWarningOsVersion", ["16", "18.0", .null]), ("maximumWipeOsVersion", ["18.0", "30.1", .null]),
        ("minimumRequiredAppVersion", ["3.0", "2.0", .null]), ("minimumWarningAppVersion", ["4.0", "2.0", .null]),
        ("minimumWipeAppVersion", ["2.5", "1.0", .null]), ("minimumRequiredSdkVersion", ["3.0", "1.0", .null]),
        ("minimumWarningSdkVersion", ["3.0", "1.0", .null]), ("minimumWipeSdkVersion", ["1.0", "0.9", .null]),
        ("maximumAllowedDeviceThreatLevel", ["secured", "low", "medium", "high", "notConfigured"]),
        ("mobileThreatDefenseRemediationAction", ["wipe", "block", "warn"]),
        ("appActionIfUnableToAuthenticateUser", ["wipe", "block", "warn", .null]),
        ("gracePeriodToBlockAppsDuringOffClockHours", ["PT1M", "PT1H"]),
        ("allowedIosDeviceModels", [";", "a", "a;b", .null]),
        ("appActionIfIosDeviceModelNotAllowed", ["wipe", "block", "warn"]),
        ("appActionIfAccountIsClockedOut", ["wipe", "block", "warn", .null]),
        ("dataBackupBlocked", [true, false]),
        (
            "appDataEncryptionType",
            ["whenDeviceLocked", "whenDeviceLockedExceptOpenFiles", "afterDeviceRestart", "useDeviceSettings"]
        ),
        ("pinCharacterSet", ["alphanumericAndSymbol", "numeric"]), ("simplePinBlocked", [true, false]),
        ("minimumPinLength", [8, 4]), ("previousPinBlockCount", [5, 0]), ("fingerprintBlocked", [true, false]),
        ("faceIdBlocked", [true, false]), ("pinRequiredInsteadOfBiometricTimeout", ["PT1M", "PT12H", "PT0S"]),
        ("filterOpenInToOnlyManagedApps", [true, false]),
        ("disableProtectionOfManagedOutboundOpenInData", [false, true]),
        ("protectInboundDataFromUnknownSources", [true, false]),
        ("managedBrowser", ["microsoftEdge", "notConfigured"]),
        ("customBrowserProtocol", ["one", "two", .null]), ("customDialerAppProtocol", ["one", "two", .null]),
    ]

    static func members(_ random: inout SeededGenerator, id: String) -> [String: JSONValue] {
        var members: [String: JSONValue] = ["id": .string(id), "version": "1", "displayName": .string(id)]
        for (name, values) in choices where Bool.random(using: &random) {
            members[name] = values.randomElement(using: &random)
        }
        return members
    }

    static func policy(_ random: inout SeededGenerator, id: String) throws -> AppProtectionPolicy {
        try AppProtectionPolicy(graphJSON: .object(members(&random, id: id)))
    }

    /// Any question, complete or not.
    static func question(_ random: inout SeededGenerator) throws -> Question {
        var members: [String: JSONValue] = [:]
        func put(_ name: String, _ values: [JSONValue]) {
            if let value = values.randomElement(using: &random), value != .null { members[name] = value }
        }
        put("action", Action.allCases.map { .string($0.rawValue) })
        let own: JSONValue = ["account": "managed", "id": "oid-a"]
        put(
            "owner",
            [own, own, own, ["account": "unmanaged"], ["account": "lost"], ["account": "managed", "id": "oid-b"]])
        put("location", Location.allCases.map { .string($0.rawValue) } + [.null])
        put("locationAccount", ["oid-a", "oid-b", "other", .null])
        put(
            "peer",
            [
                .null, ["app": "managed", "account": "managed", "id": "oid-a"],
                ["app": "managed", "account": "managed", "id": "oid-b"],
                ["app": "managed", "account": "unmanaged"], ["app": "unmanaged", "account": "unmanaged"],
                ["app": "exempt"], ["app": "exempt", "account": "managed", "id": "oid-a", "bundleId": "mailto"],
            ])
        put(
            "url",
            [
                "https://maps.example.com/x", "https://a.example", "tel:1", "sms:1", "mailto:a@example.test", "x:1",
                .null,
            ])
        put("loaded", [true, false, .null])
        put("characters", [0, 3, 4, 11, .null])
        put("viewer", ["unset", "unmanaged", "currentIdentity", "currentIdentityWithoutUploadAndPaste"])
        put("webViewersUnmanaged", [true, false])
        put("contentEvaluation", ["permitted", "refused", .null])
        members["device"] = device(&random)
        return try Question(json: .object(members))
    }

    private static func device(_ random: inout SeededGenerator) -> JSONValue {
        var facts: [String: JSONValue] = [:]
        func put(_ name: String, _ values: [JSONValue]) {
            if let value = values.randomElement(using: &random), value != .null { facts[name] = value }
        }
        put("osVersion", ["14.0", "16.0", "17.0", "17.2", "27.0", .null])
        put("appVersion", ["0.5", "2.2", "3.5", "5.0"])
        put("sdkVersion", ["0.5", "1.5", "3.5"])
        put("rooted", [false, false, true, .null])
        put("minutesSinceCheckIn", [1, 1, 100, 5000, 200_000, -5, .null])
        put("minutesSincePIN", [0, 0, 20, 100, -1, .null])
        put("minutesSincePINSet", [10, 10, 2000, 200_000, .null])
        put("minutesSinceSignIn", [0, 10, 100])
        put("failedPINAttempts", [0, 0, 2, 4, 6, .null])
        put("devicePINSet", [true, false])
        put("threatLevel", ["secured", "low", "high", "unknown"])
        put("model", ["a", "b", "c"])
        put("accountDisabled", [true, false, false])
        put("clockStatus", [0, 1, 2, 3, 4, 5])
        put("minutesSinceClockOut", [0, 30, 90, .null])
        put("online", [true, false, .null])
        return .object(facts)
    }
}

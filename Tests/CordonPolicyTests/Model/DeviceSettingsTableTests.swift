import CordonPolicy
import Testing

/// SDK-DB-03…21: every key of a device, each documented number against the property that it must set.
@Suite struct DeviceSettingsTableTests {
    /// A key, the property it sets, what its documented values mean, and a value that means nothing.
    struct Row: Sendable, CustomTestStringConvertible {
        let key: String
        let property: String
        let meanings: [(value: JSONValue, graph: JSONValue)]
        let wrong: JSONValue

        var testDescription: String { key }

        static func flag(_ key: String, _ property: String, on: Bool = true) -> Row {
            Row(key: key, property: property, meanings: [(0, .bool(!on)), (1, .bool(on))], wrong: 2)
        }

        static func level(_ key: String, _ property: String, _ meanings: [Int: String], wrong: Int = -1) -> Row {
            Row(
                key: key, property: property,
                meanings: meanings.map { (.integer(Int64($0.key)), .string($0.value)) }, wrong: .integer(Int64(wrong)))
        }

        static func places(_ key: String, _ property: String, _ bits: [Int: String], wrong: Int) -> Row {
            let all = bits.sorted { $0.key < $1.key }
            let sum = (JSONValue.integer(Int64(bits.keys.reduce(0, +))), JSONValue.array(all.map { .string($0.value) }))
            return Row(
                key: key, property: property,
                meanings: all.map { (.integer(Int64($0.key)), .array([.string($0.value)])) } + [(0, .array([])), sum],
                wrong: .integer(Int64(wrong)))
        }

        static func value(_ key: String, _ property: String, _ meanings: [JSONValue: JSONValue], wrong: JSONValue)
            -> Row
        {
            Row(key: key, property: property, meanings: meanings.map { ($0.key, $0.value) }, wrong: wrong)
        }

        static func version(_ key: String, _ property: String) -> Row {
            Row(key: key, property: property, meanings: [("17.4.1", "17.4.1"), ("0.0", .null)], wrong: "x")
        }
    }

    static let rows: [Row] = [
        .value(
            "AccessRecheckOfflineTimeout", "periodOfflineBeforeAccessCheck", [1: "PT1M", 720: "PT12H"], wrong: 0),
        .value("AccessRecheckOnlineTimeout", "periodOnlineBeforeAccessCheck", [1: "PT1M", 30: "PT30M"], wrong: 0),
        .level("AppSharingFromLevel", "allowedInboundDataTransferSources", sharing, wrong: 3),
        .level("AppSharingToLevel", "allowedOutboundDataTransferDestinations", sharing, wrong: 3),
        .level(
            "ClipboardSharingLevel", "allowedOutboundClipboardSharingLevel",
            [0: "blocked", 1: "managedApps", 2: "managedAppsWithPasteIn", 3: "allApps"], wrong: 4),
        .value(
            "ClipboardCharacterLengthException", "allowedOutboundClipboardSharingExceptionLength", [0: 0, 25: 25],
            wrong: -1),
        .flag("FileSharingSaveAsDisabled", "saveAsBlocked"),
        .places(
            "ManagedLocations", "allowedDataStorageLocations",
            [1: "oneDriveForBusiness", 2: "sharePoint", 4: "box", 32: "localStorage", 128: "photoLibrary"], wrong: 64),
        .flag("OpenDataIntoOrgDocumentsBlocked", "blockDataIngestionIntoOrganizationDocuments"),
        .places(
            "OpenDataFromManagedLocations", "allowedDataIngestionLocations",
            [1: "oneDriveForBusiness", 2: "sharePoint", 4: "camera", 8: "localStorage", 16: "photoLibrary"], wrong: 32),
        .flag("EnableOpenInFilter", "filterOpenInToOnlyManagedApps"),
        .flag("ProtectManagedOpenInData", "disableProtectionOfManagedOutboundOpenInData", on: false),
        .value(
            "ProtocolExclusions", "exemptedAppProtocols",
            [["sms", "tel"]: [["name": "Default", "value": "sms;tel;"]], []: []], wrong: 1),
        .value("ManagedUniversalLinks", "managedUniversalLinks", [["http://a/*"]: ["http://a/*"]], wrong: [1]),
        .value("UniversalLinkExclusions", "exemptedUniversalLinks", [["http://b/*"]: ["http://b/*"]], wrong: "x"),
        .level(
            "FileEncryptionLevel", "appDataEncryptionType",
            [
                0: "whenDeviceLocked", 1: "whenDeviceLockedExceptOpenFiles", 2: "afterDeviceRestart",
                3: "useDeviceSettings",
            ], wrong: 4),
        .flag("PINEnabled", "pinRequired"),
        .level("PINCharacterType", "pinCharacterSet", [0: "alphanumericAndSymbol", 1: "numeric"], wrong: 2),
        .value("PINMinLength", "minimumPinLength", [4: 4, 8: 8], wrong: -1),
        .flag("SimplePINAllowed", "simplePinBlocked", on: false),
        .value("PINExpiryDays", "periodBeforePinReset", [0: "PT0S", 90: "P90D"], wrong: -1),
        .value("PINNumRetry", "maximumPinRetries", [5: 5, 10: 10], wrong: -1),
        .level("MaxPinRetryExceededAction", "appActionIfMaximumPinRetriesExceeded", remedies, wrong: 2),
        .flag("AppPinDisabled", "disableAppPinIfDevicePinIsSet"),
        .flag("TouchIDEnabled", "fingerprintBlocked", on: false), .flag("FaceIDEnabled", "faceIdBlocked", on: false),
        .value("NonBioPassTimeOut", "pinRequiredInsteadOfBiometricTimeout", [0: "PT0S", 45: "PT45M"], wrong: -1),
        .flag("AuthenticationEnabled", "organizationalCredentialsRequired"),
        .level("AppActionIfUnableToAuthenticateUser", "appActionIfUnableToAuthenticateUser", remedies, wrong: 2),
        .flag("ContactSyncDisabled", "contactSyncBlocked"), .flag("DataBackupDisabled", "dataBackupBlocked"),
        .flag("PrintingBlocked", "printBlocked"), .flag("ThirdPartyKeyboardsBlocked", "thirdPartyKeyboardsBlocked"),
        .level("ScreenCaptureConfigurationState", "screenCaptureConfigurationState", blocking, wrong: 2),
        .level("GenmojiConfigurationState", "genmojiConfigurationState", blocking, wrong: 2),
        .level("WritingToolsConfigurationState", "writingToolsConfigurationState", blocking, wrong: 2),
        .level(
            "DialerRestrictionLevel", "dialerRestrictionLevel", [0: "blocked", 1: "customApp", 3: "allApps"], wrong: 4),
        .value("SpecificDialerProtocol", "customDialerAppProtocol", ["callto": "callto"], wrong: 1),
        .flag("ManagedBrowserRequired", "managedBrowserToOpenLinksRequired"),
        .value("UnmanagedBrowserProtocol", "customBrowserProtocol", ["browse": "browse"], wrong: 1),
        .level(
            "NotificationRestriction", "notificationRestriction",
            [0: "allow", 1: "blockOrganizationalData", 2: "block"], wrong: 3),
        .flag("DeviceComplianceEnabled", "deviceComplianceRequired"),
        .level("DeviceComplianceFailureAction", "appActionIfDeviceComplianceRequired", remedies, wrong: 2),
        .level(
            "MinimumRequiredDeviceThreatProtectionLevel", "maximumAllowedDeviceThreatLevel",
            [0: "notConfigured", 1: "secured", 2: "low", 3: "medium", 4: "high"], wrong: 5),
        .level("MobileThreatDefenseRemediationAction", "mobileThreatDefenseRemediationAction", remedies, wrong: 2),
        .version("MinOsVersion", "minimumRequiredOsVersion"),
        .version("MinOsVersionWarning", "minimumWarningOsVersion"),
        .version("MinOsVersionWipe", "minimumWipeOsVersion"), .version("MaxOsVersion", "maximumRequiredOsVersion"),
        .version("MaxOsVersionWarning", "maximumWarningOsVersion"),
        .version("MaxOsVersionWipe", "maximumWipeOsVersion"), .version("MinAppVersion", "minimumRequiredAppVersion"),
        .version("MinAppVersionWarning", "minimumWarningAppVersion"),
        .version("MinAppVersionWipe", "minimumWipeAppVersion"),
        .version("MinSDKVersion", "minimumRequiredSdkVersion"),
        .version("MinSDKVersionWipe", "minimumWipeSdkVersion"),
        .value("OfflineWipeInterval", "periodOfflineBeforeWipeIsEnforced", [0: "PT0S", 90: "P90D"], wrong: -1),
        .flag("ProtectAllIncomingUnknownSourceData", "protectInboundDataFromUnknownSources"),
    ]
    private static let sharing = [0: "none", 1: "managedApps", 2: "allApps"]
    private static let remedies = [0: "block", 1: "wipe"]
    private static let blocking = [0: "notBlocked", 1: "blocked"]
    /// Keys that are read beside the table.
    private static let models = ["AllowedIOSModelsElseBlock", "AllowedIOSModelsElseWipe"]
    /// Keys that devices have and no administrator sets.
    private static let withoutEffect: [String: JSONValue] = [
        "ClipboardEncryptionEnabled": 1, "DictationBlocked": 1, "DisableShareSense": 1, "RequireFileEncryption": 1,
        "IntuneIdentityUPN": "ada@example.test",
    ]

    @Test func `there are the 66 keys that are documented`() {
        let keys = Self.rows.map(\.key) + Self.models + Self.withoutEffect.keys + ["NonBioPassTimeOutRequired"]
        #expect(keys.count == 66 && Set(keys).count == 66)
        let known = DeviceSettings(AppProtectionPolicy.baseline(.level3)).values.keys
        #expect(Set(known).isSubset(of: keys))
    }

    @Test(arguments: rows) func `a documented value sets its property and nothing else`(row: Row) {
        let untouched = AppProtectionPolicy(id: "debug", displayName: "Device settings").completeGraphJSON
        for (value, graph) in row.meanings {
            let (policy, warnings) = DeviceSettings([row.key: value]).policy()
            #expect(warnings.isEmpty, "\(value): \(warnings)")
            let members = policy.completeGraphJSON
            #expect((members[row.property] ?? .null) == graph, "\(value)")
            let changed = (members.object ?? [:]).filter { $0.value != untouched[$0.key] }.map(\.key)
            // Devices have one word for requiring a managed browser and for which (SRV-RS-032).
            #expect(Set(changed).subtracting(["managedBrowser"]).isSubset(of: [row.property]), "\(changed)")
        }
    }

    @Test(arguments: rows) func `a value without a meaning is left aside with a warning`(row: Row) {
        let (policy, warnings) = DeviceSettings([row.key: row.wrong]).policy()
        #expect(warnings.count == 1 && warnings.first?.hasPrefix(row.key + ":") == true)
        #expect(policy == AppProtectionPolicy(id: "debug", displayName: "Device settings"))
    }

    @Test func `models are a list with a remedy`() {
        for key in Self.models {
            let (policy, warnings) = DeviceSettings([key: "iPhone1,1;iPad2,2"]).policy()
            #expect(warnings.isEmpty)
            #expect(policy.launch.allowedModels == ["iphone1,1", "ipad2,2"])
            #expect(policy.launch.actionIfModelNotAllowed == (key == Self.models.last ? .wipe : .block))
            #expect(DeviceSettings([key: 5]).policy().warnings.count == 1)
        }
    }

    @Test func `keys without an effect are accepted and change nothing`() {
        let (policy, warnings) = DeviceSettings(Self.withoutEffect).policy()
        #expect(warnings.isEmpty)
        #expect(policy == AppProtectionPolicy(id: "debug", displayName: "Device settings"))
    }
}

import CordonPolicy
import Testing

@Suite struct DeviceSettingsTests {
    @Test func `a policy survives its flat form`() {
        for level in AppProtectionPolicy.Baseline.allCases {
            let policy = AppProtectionPolicy.baseline(level)
            let (back, warnings) = DeviceSettings(policy).policy()
            #expect(warnings.isEmpty, "\(warnings)")
            #expect(back.transfer == policy.transfer && back.access == policy.access && back.launch == policy.launch)
            #expect(back.storage == policy.storage)
        }
    }

    @Test func `a name in another letter case, or one that is not known, has the number of what counts`() throws {
        let policy = try AppProtectionPolicy(graphJSON: [
            "allowedOutboundDataTransferDestinations": "ManagedApps", "notificationRestriction": "block, allow",
            "dialerRestrictionLevel": "laterLevel",
        ])
        let settings = DeviceSettings(policy)
        #expect(settings.values["AppSharingToLevel"] == 1)
        #expect(settings.values["NotificationRestriction"] == 2)
        #expect(settings.values["DialerRestrictionLevel"] == 0)
        #expect(settings.policy().policy.transfer == policy.transfer)
    }

    @Test func `the documented numbers mean what they should`() {
        let (policy, warnings) = DeviceSettings([
            "AppSharingFromLevel": 0, "AppSharingToLevel": 1, "ClipboardSharingLevel": 2, "ManagedLocations": 129,
            "FileSharingSaveAsDisabled": 1, "AccessRecheckOnlineTimeout": 7, "SimplePINAllowed": 0, "TouchIDEnabled": 0,
            "MinOsVersion": "0.0", "MinimumRequiredDeviceThreatProtectionLevel": 2, "AllowedIOSModelsElseWipe": "a;B",
            "DictationBlocked": 1,
        ]).policy()
        #expect(warnings.isEmpty)
        #expect(policy.transfer.inbound == .none && policy.transfer.outbound == .managedApps)
        #expect(policy.transfer.clipboard == .managedAppsWithPasteIn)
        #expect(policy.transfer.storageLocations == [.oneDriveForBusiness, .photoLibrary])
        #expect(policy.access.periodOnlineBeforeAccessCheck == .seconds(420))
        #expect(policy.access.simplePinBlocked && policy.access.fingerprintBlocked)
        #expect(policy.launch.osVersion.minimumRequired == nil && policy.launch.maximumThreatLevel == .low)
        #expect(policy.launch.allowedModels == ["a", "b"] && policy.launch.actionIfModelNotAllowed == .wipe)
    }

    @Test func `a switch for the time of biometry works as a truth value too, and a wrong one is told`() {
        for off: JSONValue in [0, .bool(false)] {
            let (policy, warnings) = DeviceSettings(["NonBioPassTimeOut": 30, "NonBioPassTimeOutRequired": off])
                .policy()
            #expect(warnings.isEmpty)
            #expect(policy.access.pinRequiredInsteadOfBiometricTimeout == .zero)
        }
        for on: JSONValue in [1, .bool(true)] {
            let (policy, warnings) = DeviceSettings(["NonBioPassTimeOut": 45, "NonBioPassTimeOutRequired": on]).policy()
            #expect(warnings.isEmpty)
            #expect(policy.access.pinRequiredInsteadOfBiometricTimeout == .seconds(45 * 60))
        }
        let (policy, warnings) = DeviceSettings(["NonBioPassTimeOutRequired": 7]).policy()
        #expect(warnings.count == 1)
        #expect(policy.access == AccessRequirements())
    }

    @Test func `numbers that were typed into a settings page count`() {
        let (policy, warnings) = DeviceSettings([
            "PINMinLength": "6", "PINNumRetry": " 3 ", "AccessRecheckOnlineTimeout": "7", "OfflineWipeInterval": "0",
        ]).policy()
        #expect(warnings.isEmpty)
        #expect(policy.access.minimumPinLength == 6 && policy.access.maximumPinRetries == 3)
        #expect(policy.access.periodOnlineBeforeAccessCheck == .seconds(420))
        let wrong: [String: JSONValue] = [
            "PINMinLength": "six", "PINNumRetry": "-3", "AccessRecheckOnlineTimeout": "1e2", "OfflineWipeInterval": "",
        ]
        #expect(DeviceSettings(wrong).policy().warnings.count == wrong.count)
    }

    @Test func `an invalid value is ignored with a warning`() {
        let wrong: [String: JSONValue] = [
            "AppSharingToLevel": 3, "PINEnabled": 2, "ManagedLocations": 64, "AccessRecheckOfflineTimeout": 0,
            "AccessRecheckOnlineTimeout": -1, "MinOsVersion": "x", "PINMinLength": 9_000_000_000, "NoSuchKey": 1,
        ]
        let (policy, warnings) = DeviceSettings(wrong).policy()
        #expect(warnings.count == wrong.count)
        #expect(policy.transfer == DataTransferRules() && policy.access == AccessRequirements())
    }
}

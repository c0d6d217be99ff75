import CordonIdentity
import CordonPolicy
import Testing

@Suite struct LintTests {
    private func codes(_ members: [String: JSONValue], weakerThan baseline: AppProtectionPolicy? = nil) throws -> Set<
        String
    > {
        let policy = try AppProtectionPolicy(graphJSON: .object(members))
        return Set(PolicyLint.findings(in: policy, weakerThan: baseline).map { "\($0.code) \($0.setting)" })
    }

    @Test func `the defaults have no finding`() throws {
        #expect(try codes(["@odata.type": "#microsoft.graph.iosManagedAppProtection", "displayName": "x"]).isEmpty)
    }

    @Test func `the unknown is found`() throws {
        let found = try codes(["later": 1, "managedBrowser": "fox", "rule": 1, "rule@cordon.critical": true])
        #expect(
            found.isSuperset(of: ["unknown-property later", "unknown-value managedBrowser", "unknown-critical rule"]))
    }

    @Test func `a value that is not known is named, with what it counts as and the name that was meant`() throws {
        let policy = try AppProtectionPolicy(graphJSON: [
            "allowedInboundDataTransferSources": "trustedApps",
            "allowedOutboundDataTransferDestinations": "manegedApps",
            "allowedDataStorageLocations": ["sharePiont", "box"],
        ])
        let messages = Dictionary(
            uniqueKeysWithValues: PolicyLint.findings(in: policy).filter { $0.code == "unknown-value" }.map {
                ($0.setting, $0.message)
            })
        #expect(
            messages["allowedInboundDataTransferSources"] == "\"trustedApps\" is not known here and counts as \"none\"")
        #expect(
            messages["allowedOutboundDataTransferDestinations"]?.hasSuffix("; did you mean managedApps?") == true)
        #expect(messages["allowedDataStorageLocations"]?.hasSuffix("; did you mean sharePoint?") == true)
    }

    @Test func `flags are read as a list, and the strictest of them counts`() throws {
        // SRV-RS-008
        for text in ["notConfigured,microsoftEdge", "MICROSOFTEDGE", "microsoftEdge, notConfigured"] {
            let policy = try AppProtectionPolicy(graphJSON: ["managedBrowser": .string(text)])
            #expect(policy.transfer.managedBrowser == .microsoftEdge && policy.notUnderstood.isEmpty, "\(text)")
            #expect(policy.graphJSON["managedBrowser"] == .string(text))
        }
        for text in ["notConfigured,fox", "", ","] {
            let policy = try AppProtectionPolicy(graphJSON: ["managedBrowser": .string(text)])
            #expect(policy.notUnderstood == ["managedBrowser"], "\(text)")
        }
    }

    @Test func `a policy that names no app is found, unless it is about every app`() throws {
        // SRV-OP-099
        let ios: JSONValue = "#microsoft.graph.iosManagedAppProtection"
        #expect(try codes(["@odata.type": ios, "apps": []]) == ["no-apps apps"])
        #expect(try codes(["@odata.type": ios, "apps": [], "appGroupType": "SelectedPublicApps"]) == ["no-apps apps"])
        #expect(try codes(["@odata.type": ios, "apps": [], "appGroupType": "allApps"]).isEmpty)
        #expect(try codes(["@odata.type": ios, "apps": [["id": "a.b.ios"]]]).isEmpty)
        #expect(try codes(["@odata.type": ios]).isEmpty, "the list was not exported")
        #expect(try codes(["@odata.type": "#microsoft.graph.defaultManagedAppProtection", "apps": []]).isEmpty)
    }

    @Test func `settings that cancel one another are found`() throws {
        #expect(try codes(["saveAsBlocked": true]) == ["contradiction saveAsBlocked"])
        #expect(
            try codes(["allowedOutboundDataTransferDestinations": "none"]).contains(
                "contradiction allowedOutboundClipboardSharingLevel"))
        #expect(
            try codes(["minimumRequiredOsVersion": "18.0", "maximumRequiredOsVersion": "17.0"])
                == ["contradiction minimumRequiredOsVersion"])
        #expect(
            try codes(["minimumRequiredOsVersion": "16.0", "minimumWipeOsVersion": "16.0"])
                == ["contradiction minimumRequiredOsVersion"])
        #expect(try codes(["dialerRestrictionLevel": "customApp"]) == ["incomplete customDialerAppProtocol"])
        #expect(
            try codes(["periodOfflineBeforeWipeIsEnforced": "PT1H"]) == [
                "contradiction periodOfflineBeforeWipeIsEnforced"
            ])
        #expect(try codes(["pinRequired": false, "simplePinBlocked": true]) == ["contradiction pinRequired"])
    }

    @Test func `an action that its condition does not take is found`() throws {
        let denying = [
            "appActionIfMaximumPinRetriesExceeded", "appActionIfDeviceComplianceRequired",
            "mobileThreatDefenseRemediationAction", "appActionIfUnableToAuthenticateUser",
            "appActionIfIosDeviceModelNotAllowed",
        ]
        for setting in denying {
            #expect(try codes([setting: "warn"]) == ["action-not-taken \(setting)"])
            #expect(try codes([setting: "block"]).isEmpty, "\(setting)")
            #expect(try !codes([setting: "wipe"]).contains("action-not-taken \(setting)"), "\(setting)")
        }
        let clock = "appActionIfAccountIsClockedOut"
        #expect(try codes([clock: "wipe"]) == ["action-not-taken \(clock)"])
        #expect(try codes([clock: "block"]).isEmpty && codes([clock: "warn"]).isEmpty)
    }

    @Test func `exemptions that another setting defeats, and links that stand for everything, are found`() throws {
        let outbound = "allowedOutboundDataTransferDestinations"
        func schemes(_ list: String, _ members: [String: JSONValue]) throws -> Set<String> {
            try codes(members.merging(["exemptedAppProtocols": [["name": "x", "value": .string(list)]]]) { $1 })
        }
        let defeated = "defeated-exemption exemptedAppProtocols"
        #expect(
            try schemes("sms", [outbound: "managedApps", "protectedMessagingRedirectAppType": "blocked"])
                .contains(defeated))
        #expect(try schemes("tel", [outbound: "managedApps", "dialerRestrictionLevel": "blocked"]).contains(defeated))
        #expect(try schemes("notes", [outbound: "none"]).contains(defeated))
        #expect(try !schemes("sms;tel", [outbound: "managedApps"]).contains(defeated))
        for (link, isAll) in [
            ("https://*", true), ("http://*/*", true), ("https://*.example.com", false), ("https://a.example/*", false),
        ] {
            let found = try codes(["exemptedUniversalLinks": [.string(link)]])
            #expect(found.contains("matches-everything exemptedUniversalLinks") == isAll, "\(link)")
        }
        #expect(
            try codes([
                "exemptedUniversalLinks": ["https://a.example"], "managedUniversalLinks": ["https://A.example"],
            ]).contains("in-both-lists managedUniversalLinks"))
    }

    @Test func `wipes without what triggers them, and a priority without a level, are found and fixed without effect`()
        throws
    {
        let cases: [([String: JSONValue], String)] = [
            (
                ["deviceComplianceRequired": false, "appActionIfDeviceComplianceRequired": "wipe"],
                "wipe-without-trigger appActionIfDeviceComplianceRequired"
            ),
            (
                ["mobileThreatDefenseRemediationAction": "wipe"],
                "wipe-without-trigger mobileThreatDefenseRemediationAction"
            ),
            (
                ["appActionIfIosDeviceModelNotAllowed": "wipe"],
                "wipe-without-trigger appActionIfIosDeviceModelNotAllowed"
            ),
            (
                ["pinRequired": false, "appActionIfMaximumPinRetriesExceeded": "wipe"],
                "wipe-without-trigger appActionIfMaximumPinRetriesExceeded"
            ),
            (
                ["mobileThreatDefensePartnerPriority": "defenderOverThirdPartyPartner"],
                "priority-without-level mobileThreatDefensePartnerPriority"
            ),
            (["appActionIfAccountIsClockedOut": "wipe"], "action-not-taken appActionIfAccountIsClockedOut"),
        ]
        for (members, code) in cases {
            #expect(try codes(members).contains(code))
            let policy = try AppProtectionPolicy(graphJSON: .object(members))
            let fixed = PolicyLint.fixed(policy)
            #expect(!PolicyLint.findings(in: fixed).contains { "\($0.code) \($0.setting)" == code }, "\(code)")
            let sentences = try ["never wipe launch", "never launch", "always launch"].map { try PolicySentence($0) }
            for sentence in sentences {
                let (before, after) = (PolicyProof(of: sentence, in: policy), PolicyProof(of: sentence, in: fixed))
                #expect(before.holds == after.holds && before.verdict == after.verdict, "\(code)")
            }
        }
        #expect(
            try codes([
                "screenCaptureConfigurationState": "notBlocked",
                "allowedOutboundDataTransferDestinations": "managedApps",
            ]).contains("capture-allowed screenCaptureConfigurationState"))
    }

    @Test func `what is weaker than a baseline is found by name`() throws {
        let found = try codes(
            AppProtectionPolicy.baseline(.level2).completeGraphJSON.object ?? [:], weakerThan: .baseline(.level3))
        let weaker = Set(found.filter { $0.hasPrefix("weaker-than-baseline") })
        #expect(weaker.contains("weaker-than-baseline printBlocked"))
        #expect(weaker.contains("weaker-than-baseline minimumPinLength"))
        #expect(!weaker.contains("weaker-than-baseline saveAsBlocked"))
        #expect(
            try codes(
                AppProtectionPolicy.baseline(.level3).completeGraphJSON.object ?? [:], weakerThan: .baseline(.level2)
            ).allSatisfy { !$0.hasPrefix("weaker") })
    }

    @Test func `what cannot be enforced here is said`() throws {
        #expect(
            try codes(["@odata.type": "#microsoft.graph.androidManagedAppProtection"]) == [
                "not-enforceable @odata.type"
            ])
        #expect(
            try codes(["encryptAppData": true, "screenCaptureBlocked": false]) == ["not-enforceable encryptAppData"])
    }

    @Test func `the help desk is told which single setting would let people go on`() throws {
        let policy = AppProtectionPolicy.baseline(.level3)
        #expect(
            policy.changes(allowing: Question(.print, owner: .managed("a"))) == [
                SettingChange(setting: "printBlocked", from: true, to: false, verdict: .allow)
            ])
        var save = Question(.saveTo, owner: .managed("a"))
        (save.location, save.locationAccount) = (.box, "a")
        let changes = policy.changes(allowing: save)
        #expect(
            Set(changes.map(\.setting)) == [
                "saveAsBlocked", "allowedDataStorageLocations", "allowedOutboundDataTransferDestinations",
            ])
        #expect(policy.changes(allowing: Question(.share, owner: .managed("a"))).isEmpty, "it is allowed already")
    }

    @Test func `what names no scheme, link or model is found`() throws {
        func schemes(_ list: String) throws -> Bool {
            try codes(["exemptedAppProtocols": [["name": "x", "value": .string(list)]]])
                .contains("not-a-scheme exemptedAppProtocols")
        }
        for list in ["zoomus://", "zoomus,skype", "zoomus:", "my app", "1password"] {
            #expect(try schemes(list), "\(list)")
        }
        for list in ["zoomus", "itms-apps;x+y.z-1;", ""] { #expect(try !schemes(list), "\(list)") }
        for setting in ["customBrowserProtocol", "customDialerAppProtocol", "messagingRedirectAppUrlScheme"] {
            for text in ["my dialer", "http", "https://"] {
                #expect(try codes([setting: .string(text)]).contains("not-a-scheme \(setting)"), "\(setting) \(text)")
            }
            #expect(try !codes([setting: "mydialer://"]).contains("not-a-scheme \(setting)"))
        }
        for setting in ["exemptedUniversalLinks", "managedUniversalLinks"] {
            for link in ["maps.example.com", "skype://x", "https://", ""] {
                #expect(try codes([setting: [.string(link)]]).contains("not-a-link \(setting)"), "\(link)")
            }
            #expect(try !codes([setting: ["HTTPS://*.example.com/*"]]).contains("not-a-link \(setting)"))
        }
        for (models, code) in [
            ("iPhone15,2,iPhone15,3", "not-a-model"), ("iPhone 15 Pro", "not-a-model"), ("iPhone15", "not-a-model"),
            (";", "admits-nothing"), ("iPhone15,2;iPad8,1;AppleTV11,1", nil),
        ] {
            let found = try codes(["allowedIosDeviceModels": .string(models)]).filter { $0.hasSuffix("Models") }
            #expect(found == Set(code.map { ["\($0) allowedIosDeviceModels"] } ?? []), "\(models)")
        }
    }

    @Test func `thresholds that are never reached, and what excepts from nothing, are found`() throws {
        let managed: [String: JSONValue] = [
            "allowedOutboundDataTransferDestinations": "managedApps",
            "allowedInboundDataTransferSources": "managedApps", "allowedOutboundClipboardSharingLevel": "managedApps",
        ]
        let faults: [([String: JSONValue], String)] = [
            (
                ["maximumRequiredOsVersion": "20.0", "maximumWipeOsVersion": "19.0"],
                "contradiction maximumRequiredOsVersion"
            ),
            (
                ["maximumRequiredOsVersion": "19.0", "maximumWarningOsVersion": "20.0"],
                "contradiction maximumWarningOsVersion"
            ),
            (["allowedDataIngestionLocations": ["camera"]], "contradiction allowedDataIngestionLocations"),
            (
                ["allowedOutboundClipboardSharingExceptionLength": 65535],
                "contradiction allowedOutboundClipboardSharingExceptionLength"
            ),
            (["maximumPinRetries": 5000], "too-weak maximumPinRetries"),
            (["periodOnlineBeforeAccessCheck": "PT0S"], "too-short periodOnlineBeforeAccessCheck"),
            (["customDialerAppProtocol": "x"], "contradiction customDialerAppProtocol"),
            (["messagingRedirectAppUrlScheme": "x"], "contradiction messagingRedirectAppUrlScheme"),
            (["managedBrowserToOpenLinksRequired": true], "incomplete managedBrowser"),
            (
                [
                    "managedBrowserToOpenLinksRequired": true, "managedBrowser": "microsoftEdge",
                    "customBrowserProtocol": "x",
                ], "contradiction customBrowserProtocol"
            ),
        ]
        for (members, code) in faults {
            #expect(try codes(members.merging(managed) { one, _ in one }) == [code], "\(code)")
        }
        #expect(try codes(managed).isEmpty)
        #expect(
            try codes(
                managed.merging([
                    "allowedDataIngestionLocations": ["oneDriveForBusiness", "sharePoint", "camera", "photoLibrary"]
                ]) { $1 }
            ).isEmpty, "what the console selects by itself")
    }
}

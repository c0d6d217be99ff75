import CordonIdentity
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Testing

@Suite struct PolicyDiffTests {
    /// What is told of a change of some members, sentences and details.
    private func told(_ old: [String: JSONValue], _ new: [String: JSONValue]) throws -> [String] {
        let diff = PolicyDiff(
            from: try AppProtectionPolicy(graphJSON: .object(old)), to: try AppProtectionPolicy(graphJSON: .object(new))
        )
        return diff.effects.map(\.sentence) + diff.details
    }

    private static let managed: [String: JSONValue] = [
        "allowedOutboundDataTransferDestinations": "managedApps", "allowedInboundDataTransferSources": "managedApps",
        "pinRequired": false, "deviceComplianceRequired": false,
    ]

    @Test func `launches are told by the fact and its range, in the words of people`() throws {
        let examples: [([String: JSONValue], [String: JSONValue], [String])] = [
            (
                ["minimumRequiredOsVersion": "16.0"], ["minimumRequiredOsVersion": "18.0"],
                ["System version from 16.0 and below 18.0: the app does not open; until now it opens."]
            ),
            (
                [:], ["minimumRequiredAppVersion": "5.0", "minimumWarningAppVersion": "6.0"],
                [
                    "App version below 5.0: the app does not open; until now it opens.",
                    "App version from 5.0 and below 6.0: the app opens after a notice; until now it opens.",
                ]
            ),
            (
                ["maximumRequiredOsVersion": "20"], ["maximumRequiredOsVersion": "19", "minimumWipeOsVersion": "15"],
                [
                    "System version up to 15: the app removes the organisation's data; until now it opens.",
                    "System version above 19 and up to 20: the app does not open; until now it opens.",
                ]
            ),
            (
                ["periodOfflineBeforeWipeIsEnforced": "P90D"], ["periodOfflineBeforeWipeIsEnforced": "P30D"],
                [
                    "Time without contact to the service above 30 days and up to 90 days: "
                        + "the app removes the organisation's data; until now it does not open."
                ]
            ),
            (
                ["deviceComplianceRequired": true],
                ["deviceComplianceRequired": true, "appActionIfDeviceComplianceRequired": "wipe"],
                [
                    "The device is jailbroken or rooted: the app removes the organisation's data; "
                        + "until now it does not open."
                ]
            ),
            (
                [:], ["maximumAllowedDeviceThreatLevel": "low"],
                [
                    "Threat level medium or high: the app does not open; until now it opens.",
                    "Threat level not known: the app does not open; until now it opens.",
                ]
            ),
            (
                ["allowedIosDeviceModels": "iPhone14,1;iPhone15,2"], ["allowedIosDeviceModels": "iPhone15,2"],
                ["Device model iphone14,1: the app does not open; until now it opens."]
            ),
            (
                [:],
                [
                    "appActionIfAccountIsClockedOut": "block", "gracePeriodToBlockAppsDuringOffClockHours": "PT30M",
                ],
                [
                    "Clocked out or working time not known: the app does not open; until now it opens.",
                    "Clocked out for a time below 30 minutes (clocked out): the app opens after a notice; until now it opens.",
                    "Clocked out for a time from 30 minutes (clocked out): the app does not open; until now it opens.",
                ]
            ),
            (
                ["pinRequired": true, "periodOnlineBeforeAccessCheck": "PT30M"],
                ["pinRequired": true, "periodOnlineBeforeAccessCheck": "PT10M", "maximumPinRetries": 3],
                [
                    "Wrong PINs in a row from 3 and below 5: the app asks for a sign-in and a new PIN; until now it opens.",
                    "Time since the PIN was entered above 10 minutes and up to 30 minutes: the app asks for the PIN; "
                        + "until now it opens without the PIN.",
                ]
            ),
            (
                ["pinRequired": true], ["pinRequired": true, "disableAppPinIfDevicePinIsSet": true],
                [
                    "Wrong PINs in a row from 5 (the device has a passcode): the app opens; "
                        + "until now it asks for a sign-in and a new PIN.",
                    "Time since the PIN was entered above 30 minutes (the device has a passcode): "
                        + "the app opens without the PIN; until now it asks for the PIN.",
                ]
            ),
            (
                [:], ["organizationalCredentialsRequired": true],
                [
                    "Time since the sign-in above 30 minutes: the app asks for a sign-in; "
                        + "until now it opens without a new sign-in."
                ]
            ),
            (
                ["appDataEncryptionType": "useDeviceSettings"], [:],
                [
                    "The device has no passcode: the app does not open; until now it opens.",
                    "Work account: writing files unencrypted is limited; until now it was allowed.",
                ]
            ),
        ]
        for (old, new, sentences) in examples {
            var before = Self.managed.merging(old) { $1 }
            var after = Self.managed.merging(new) { $1 }
            if old["appDataEncryptionType"] == nil {
                (before["appDataEncryptionType"], after["appDataEncryptionType"]) = (
                    "useDeviceSettings", "useDeviceSettings"
                )
            }
            let found = try told(before, after)
            #expect(found == sentences, "\(found)")
        }
    }

    @Test func `what people may do is told by account, with the other sides that change alike`() throws {
        let printing = try told(Self.managed, Self.managed.merging(["printBlocked": true]) { $1 })
        #expect(printing == ["Work account: printing is blocked; until now it was allowed."])
        let keyboards = try told(Self.managed, Self.managed.merging(["thirdPartyKeyboardsBlocked": true]) { $1 })
        #expect(
            keyboards == [
                "Work account: using another maker's keyboard is blocked; until now it was allowed.",
                "Personal account: using another maker's keyboard is blocked; until now it was allowed.",
            ])
        let open = try told(
            Self.managed, Self.managed.merging(["allowedOutboundDataTransferDestinations": "allApps"]) { $1 })
        #expect(
            open.contains(
                "Work account: sending to a managed app with a personal account or an app that is not managed is allowed; "
                    + "until now it was blocked."), "\(open)")
        let saving = try told(
            Self.managed,
            Self.managed.merging(["saveAsBlocked": true, "allowedDataStorageLocations": ["sharePoint", "box"]]) { $1 })
        #expect(
            saving.first?.hasPrefix("Work account: saving copies to OneDrive for Business, Dropbox, Google Drive")
                == true)
        let scheme: JSONValue = [["name": "x", "value": "zoomus"]]
        let exempt = try told(
            Self.managed.merging(["exemptedAppProtocols": []]) { $1 },
            Self.managed.merging(["exemptedAppProtocols": scheme]) { $1 })
        #expect(exempt == ["Work account: opening zoomus: links is allowed; until now it was blocked."])
    }

    @Test func `no list hides what it does to all that it does not name`() throws {
        let models = try AppProtectionPolicy(graphJSON: [
            "allowedIosDeviceModels": "Unlisted-Model;unlisted-modelx", "appActionIfIosDeviceModelNotAllowed": "wipe",
        ])
        let wipes = PolicyDiff.addedWipes(from: AppProtectionPolicy(), to: models)
        #expect(wipes.map(\.sentence).contains { $0.hasPrefix("Device model that is not listed: ") }, "\(wipes)")
        let scheme: JSONValue = [["name": "x", "value": "unlisted-app"]]
        let apps = try told(
            Self.managed.merging(["allowedOutboundDataTransferDestinations": "allApps"]) { $1 },
            Self.managed.merging(["exemptedAppProtocols": scheme]) { $1 })
        #expect(apps.contains { $0.contains("links of apps that no list names") }, "\(apps)")
        let one: JSONValue = "https://any-text.contoso.com"
        let links = try told(
            Self.managed.merging(["exemptedUniversalLinks": [one]]) { $1 },
            Self.managed.merging(["exemptedUniversalLinks": [one, "https://*.contoso.com"]]) { $1 })
        #expect(
            links == [
                "Work account: opening https://*.contoso.com in an app that is not managed is allowed; "
                    + "until now it was limited."
            ], "\(links)")
    }

    @Test func `what changes no answer is told too`() throws {
        let pin = Self.managed.merging(["pinRequired": true]) { $1 }
        let examples: [([String: JSONValue], [String: JSONValue], String)] = [
            (
                [:], ["minimumPinLength": 6],
                "A PIN has at least 6 characters; until now 4. People with a shorter one set a new one."
            ),
            ([:], ["faceIdBlocked": true], "A face no longer stands in for the PIN."),
            ([:], ["simplePinBlocked": true], "A PIN such as 1234 or 1111 is refused now."),
            (
                [:], ["pinRequiredInsteadOfBiometricTimeout": "PT12H"],
                "The PIN is asked for in place of a finger or face after 12 hours; until now after 30 minutes."
            ),
            (
                ["managedBrowserToOpenLinksRequired": true, "managedBrowser": "microsoftEdge"],
                ["managedBrowserToOpenLinksRequired": true, "customBrowserProtocol": "fox"],
                "Web links open by fox; until now by microsoft-edge-http."
            ),
            (
                [
                    "allowedOutboundClipboardSharingLevel": "blocked",
                    "allowedOutboundClipboardSharingExceptionLength": 10,
                ],
                [
                    "allowedOutboundClipboardSharingLevel": "blocked",
                    "allowedOutboundClipboardSharingExceptionLength": 20,
                ],
                "Up to 20 characters may be copied into any app; until now up to 10."
            ),
            (
                ["appDataEncryptionType": "afterDeviceRestart"], ["appDataEncryptionType": "whenDeviceLocked"],
                "Organisation files are closed while the device is locked; until now until the device is first unlocked."
            ),
        ]
        for (old, new, sentence) in examples {
            let found = try told(pin.merging(old) { $1 }, pin.merging(new) { $1 })
            #expect(found == [sentence], "\(found)")
        }
        let first = try told(Self.managed, pin)
        #expect(first.last == "People set a PIN of at least 4 digits.", "\(first)")
    }

    @Test(.seeded) func `every effect has a question that is answered as it says, and launches come first`() throws {
        for _ in 0..<60 {
            var random = SeededGenerator(TestSeed.next())
            let old = try PolicyGenerator.policy(&random, id: "P")
            let new = try PolicyGenerator.policy(&random, id: "P")
            let diff = PolicyDiff(from: old, to: new)
            let (before, after) = (PolicySet(old), PolicySet(new))
            let topics = diff.effects.map(\.topic)
            #expect(topics == topics.filter { $0 == .launch } + topics.filter { $0 == .use })
            for effect in diff.effects {
                let question = try Question(json: effect.example)
                let (from, to) = (before.verdict(for: question), after.verdict(for: question))
                // Where no device opens the app under both policies, other conditions answer as well.
                let isAlone = effect.topic == .use || (from, to) == (effect.from, effect.to)
                #expect(isAlone || from >= effect.from && to >= effect.to, "\(effect)")
                #expect(effect.from != effect.to && !effect.sentence.isEmpty)
                if effect.topic == .use { #expect((from, to) == (effect.from, effect.to), "\(effect)") }
            }
        }
    }

    @Test func `data that is removed where the app would not open anyway is told`() throws {
        let found = try told(
            Self.managed.merging([
                "pinRequired": true, "disableAppPinIfDevicePinIsSet": true,
                "appDataEncryptionType": "useDeviceSettings",
            ]) { $1 },
            Self.managed.merging([
                "pinRequired": true, "disableAppPinIfDevicePinIsSet": true, "appDataEncryptionType": "whenDeviceLocked",
                "appActionIfMaximumPinRetriesExceeded": "wipe",
            ]) { $1 })
        #expect(
            found.contains(
                "Wrong PINs in a row from 5 (the device has no passcode): the app removes the organisation's data; "
                    + "until now it asks for a sign-in and a new PIN."), "\(found)")
    }

    @Test(.seeded) func `no launch that differs goes untold, and no removal above all`() throws {
        var differing = 0
        for _ in 0..<60 {
            var random = SeededGenerator(TestSeed.next())
            var members = PolicyGenerator.members(&random, id: "P")
            let old = try AppProtectionPolicy(graphJSON: .object(members))
            for (name, values) in PolicyGenerator.choices.shuffled(using: &random).prefix(3) {
                members[name] = values.randomElement(using: &random)
            }
            let new = try AppProtectionPolicy(graphJSON: .object(members))
            let (before, after) = (PolicySet(old), PolicySet(new))
            let effects = PolicyDiff(from: old, to: new).effects.filter { $0.topic == .launch }
            for _ in 0..<100 {
                var question = try PolicyGenerator.question(&random)
                (question.action, question.owner) = (.launch, .managed("work-account"))
                question.coVisibleIdentities = []
                let (from, to) = (before.verdict(for: question), after.verdict(for: question))
                if from != to { differing += 1 }
                #expect(from == to || !effects.isEmpty, "\(question.json.text())")
                let removes = to == .wipe && from != .wipe
                #expect(!removes || effects.contains { $0.to == .wipe }, "\(question.json.text())")
            }
        }
        #expect(differing > 0)
    }

    @Test func `a diff says what changes, which way and for whom`() throws {
        func target(_ group: String) -> JSONValue {
            ["target": ["@odata.type": "#microsoft.graph.groupAssignmentTarget", "groupId": .string(group)]]
        }
        let old = try AppProtectionPolicy(graphJSON: [
            "id": "p", "printBlocked": false, "later": 1, "assignments": [target("g0"), target("g2")],
        ])
        let new = try AppProtectionPolicy(graphJSON: [
            "id": "p", "printBlocked": true, "pinRequired": false, "assignments": [target("g1"), target("g2")],
        ])
        let diff = PolicyDiff(from: old, to: new)
        #expect(diff.changes.map(\.setting) == ["printBlocked", "pinRequired", "later"])
        #expect(diff.changes.map(\.direction) == [.stricter, .weaker, nil])
        #expect(diff.effects.first?.topic == .launch, "a PIN is asked for no more")
        #expect(diff.effects.filter { $0.topic == .use }.map(\.subject) == ["printing"])
        #expect(diff.audienceAfter == ["group g1", "group g2"])
        #expect(diff.joining == ["group g1"] && diff.leaving == ["group g0"])
        let same = PolicyDiff(from: old, to: old)
        #expect(same.isEmpty && same.effects.isEmpty && same.details.isEmpty)
    }
}

import CordonIdentity
import CordonPolicy
import Foundation
import Testing

@Suite struct PolicyModelTests {
    private func policy(_ members: [String: JSONValue]) throws(PolicyError) -> AppProtectionPolicy {
        try AppProtectionPolicy(graphJSON: .object(members))
    }

    @Test(arguments: [
        ("PT30M", "PT30M"), ("P90D", "P90D"), ("PT12H", "PT12H"), ("12:00:00", "PT12H"), ("90 days, 0:00:00", "P90D"),
        ("1 day, 2:03:04", "P1DT2H3M4S"), ("1.02:03:04", "P1DT2H3M4S"), ("0:30:00", "PT30M"), ("P1W", "P7D"),
        ("PT1440M", "P1D"),
        ("PT0S", "PT0S"), ("PT1.5S", "PT1.500S"),
    ]) func `durations of existing clients are read and written canonically`(text: String, canonical: String) throws {
        let read = try policy(["periodOfflineBeforeAccessCheck": .string(text)])
        #expect(read.graphJSON["periodOfflineBeforeAccessCheck"] == .string(text), "unchanged values stay as they were")
        var fresh = AppProtectionPolicy()
        fresh.launch.periodOfflineBeforeAccessCheck = read.launch.periodOfflineBeforeAccessCheck
        #expect(fresh.completeGraphJSON["periodOfflineBeforeAccessCheck"] == .string(canonical))
    }

    @Test func `what a web view is has the field's numbers (SDK-WV-04)`() {
        let numbered = [
            WebViewerPolicy.unset, .unmanaged, .currentIdentity, .currentIdentityWithoutUploadAndPaste,
        ]
        #expect(numbered.map(\.rawValue) == [0, 1, 2, 3])
        #expect(WebViewerPolicy.allCases == numbered)
    }

    @Test(arguments: [
        "-PT1H", "PT-1H", "P", "PT", "", "soon", "1:99:00", "-1:00:00", "P1S", "PT1D", "1e9", "P99999999999999999999D",
        "PT.5S", "a day, 0:00:00",
    ])
    func `what is no duration is refused`(text: String) {
        #expect(throws: PolicyError(.invalidValue, "", at: "")) {
            try policy(["periodOfflineBeforeAccessCheck": .string(text)])
        }
    }

    static let wrongTypes: [(String, JSONValue)] = [
        ("pinRequired", "true"), ("minimumPinLength", "4"), ("minimumPinLength", true), ("saveAsBlocked", 1),
        ("allowedDataStorageLocations", "box"), ("allowedDataStorageLocations", [1]),
        ("periodOnlineBeforeAccessCheck", 30), ("exemptedAppProtocols", [["name": "x"]]), ("printBlocked", []),
        ("minimumRequiredOsVersion", 17),
    ]

    @Test(arguments: wrongTypes) func `a value of the wrong type is one clear error`(name: String, value: JSONValue) {
        #expect { try policy([name: value]) } throws: { error in
            guard let error = error as? PolicyError else { return false }
            return error.code == .wrongType && error.place == name
        }
    }

    static let meaningless: [(String, JSONValue)] = [
        ("minimumPinLength", -1), ("maximumPinRetries", 0), ("maximumPinRetries", 65536), ("previousPinBlockCount", 25),
        ("allowedOutboundClipboardSharingExceptionLength", 99999), ("minimumRequiredOsVersion", "seventeen"),
        ("minimumRequiredOsVersion", "1.2.3.4.5"), ("minimumRequiredOsVersion", "99999999999.0"),
    ]

    @Test(arguments: meaningless) func `a value that cannot be meant is one clear error`(name: String, value: JSONValue)
    {
        #expect(throws: PolicyError(.invalidValue, "", at: "")) { try policy([name: value]) }
    }

    @Test func `an unknown member counts as one that denies and is kept`() throws {
        let read = try policy([
            "allowedOutboundDataTransferDestinations": "trustedApps", "managedBrowser": "MICROSOFTEDGE",
        ])
        #expect(read.transfer.outbound == .none)
        #expect(read.transfer.managedBrowser == .microsoftEdge)
        #expect(read.notUnderstood == ["allowedOutboundDataTransferDestinations"])
        #expect(read.graphJSON["allowedOutboundDataTransferDestinations"] == "trustedApps")
    }

    @Test func `an unknown action blocks and never destroys`() throws {
        let read = try policy(["appActionIfDeviceComplianceRequired": "explode"])
        #expect(read.launch.actionIfNotCompliant == .block)
    }

    @Test func `a critical property that is not known denies everything`() throws {
        let read = try policy(["id": "p", "quantumRule": true, "quantumRule@cordon.critical": true])
        let set = PolicySet(read)
        for action in Action.allCases {
            let decision = set.decision(for: action, of: .managed("oid-a"))
            #expect(decision.verdict >= .block, "\(action)")
            #expect(decision.reasons.contains { $0.rule == "policy.critical-setting" }, "\(action)")
        }
        #expect(try policy(["printBlocked": true, "printBlocked@cordon.critical": true]).unknownCritical.isEmpty)
    }

    @Test func `null and absent are the default`() throws {
        #expect(try policy(["pinRequired": .null]).access.pinRequired)
        #expect(try policy([:]).access == AccessRequirements())
    }

    @Test func `a changed setting is written and nothing else`() throws {
        var read = try policy([
            "id": "p", "printBlocked": false, "future": 1, "allowedDataStorageLocations": ["box", "moonBase"],
        ])
        read.transfer.printBlocked = true
        #expect(
            read.graphJSON == [
                "id": "p", "printBlocked": true, "future": 1, "allowedDataStorageLocations": ["box", "moonBase"],
            ])
    }

    @Test func `the complete JSON has every setting and reads back the same`() throws {
        for level in AppProtectionPolicy.Baseline.allCases {
            let baseline = AppProtectionPolicy.baseline(level)
            let back = try AppProtectionPolicy(graphJSON: baseline.completeGraphJSON)
            #expect(back.transfer == baseline.transfer && back.launch == baseline.launch)
            #expect(back.access == baseline.access && back.storage == baseline.storage)
        }
    }

    @Test func `each baseline is at least as strict as the one below`() {
        let levels = AppProtectionPolicy.Baseline.allCases.map { AppProtectionPolicy.baseline($0) }
        for (lower, higher) in zip(levels, levels.dropFirst()) {
            let weaker = PolicyLint.findings(in: higher, weakerThan: lower).filter { $0.code == "weaker-than-baseline" }
            #expect(weaker.isEmpty, "\(weaker)")
        }
    }

    /// SRV-RS-178…187, written down once more: each setting that a level sets, and what it is.
    private static let levels: [(name: String, one: JSONValue, two: JSONValue, three: JSONValue)] = [
        ("allowedOutboundDataTransferDestinations", "allApps", "managedApps", "managedApps"),
        ("allowedInboundDataTransferSources", "allApps", "allApps", "managedApps"),
        ("allowedOutboundClipboardSharingLevel", "allApps", "managedAppsWithPasteIn", "managedAppsWithPasteIn"),
        ("saveAsBlocked", false, true, true),
        (
            "allowedDataStorageLocations", [], ["oneDriveForBusiness", "sharePoint"],
            ["oneDriveForBusiness", "sharePoint"]
        ),
        ("dataBackupBlocked", false, true, true), ("printBlocked", false, false, true),
        ("thirdPartyKeyboardsBlocked", false, false, true),
        ("blockDataIngestionIntoOrganizationDocuments", false, false, true),
        ("managedBrowserToOpenLinksRequired", false, true, true),
        ("managedBrowser", "notConfigured", "microsoftEdge", "microsoftEdge"),
        ("notificationRestriction", "allow", "blockOrganizationalData", "blockOrganizationalData"),
        ("dialerRestrictionLevel", "allApps", "allApps", "customApp"), ("minimumPinLength", 4, 4, 6),
        ("simplePinBlocked", false, false, true), ("periodBeforePinReset", "PT0S", "PT0S", "P365D"),
        ("appActionIfDeviceComplianceRequired", "block", "block", "wipe"),
        ("appActionIfUnableToAuthenticateUser", .null, "block", "block"),
        ("maximumAllowedDeviceThreatLevel", "notConfigured", "notConfigured", "secured"),
        ("minimumRequiredOsVersion", .null, "17.4", "17.4"), ("maximumRequiredOsVersion", .null, .null, "26.1"),
        ("pinRequiredInsteadOfBiometricTimeout", "PT12H", "PT12H", "PT12H"),
        ("periodOfflineBeforeAccessCheck", "PT12H", "PT12H", "PT12H"),
    ]

    @Test func `settings that no rule reads have the published defaults too`() {
        // SRV-RS-032, 050, 080, 092…094
        let members = AppProtectionPolicy().completeGraphJSON
        for name in [
            "faceIdBlocked", "fingerprintBlocked", "filterOpenInToOnlyManagedApps",
            "disableProtectionOfManagedOutboundOpenInData", "protectInboundDataFromUnknownSources",
        ] {
            #expect(members[name] == false, "\(name)")
        }
        #expect(members["managedBrowser"] == "notConfigured")
    }

    @Test func `the levels have the published values, and the defaults beside them`() {
        let (minimum, maximum) = (VersionNumber("17.4"), VersionNumber("26.1"))
        let defaults = AppProtectionPolicy().completeGraphJSON.object ?? [:]
        for level in AppProtectionPolicy.Baseline.allCases {
            let policy = AppProtectionPolicy.baseline(level, minimumOS: minimum, maximumOS: maximum)
            var members = policy.completeGraphJSON.object ?? [:]
            for setting in Self.levels {
                let wanted =
                    switch level {
                    case .level1: setting.one
                    case .level2: setting.two
                    case .level3: setting.three
                    }
                #expect(members.removeValue(forKey: setting.name) == wanted, "\(level) \(setting.name)")
            }
            if level == .level3 {
                #expect(
                    members.removeValue(forKey: "allowedDataIngestionLocations") == [
                        "oneDriveForBusiness", "sharePoint",
                    ])
            }
            for (name, value) in members where !["id", "displayName"].contains(name) {
                #expect(value == defaults[name], "\(level) \(name)")
            }
        }
    }

    @Test func `the offline block is a day where a policy says nothing`() throws {
        let policy = try policy([:])
        #expect(policy.launch.periodOfflineBeforeAccessCheck == .seconds(24 * 60 * 60))
        #expect(policy.completeGraphJSON["periodOfflineBeforeAccessCheck"] == "P1D")
        var facts = DeviceFacts()
        for (minutes, isLate) in [(24 * 60, false), (24 * 60 + 1, true)] {
            facts.sinceCheckIn = .seconds(minutes * 60)
            let reasons = PolicySet(policy).decision(for: .launch, of: .managed("a"), given: facts).reasons
            #expect(reasons.contains { $0.rule == "launch.offline" } == isLate, "\(minutes)")
        }
    }

    @Test func `every bad property is found, not only the first`() throws {
        let json: JSONValue = [
            "displayName": 5, "pinRequired": "yes", "minimumPinLength": -1, "periodBeforePinReset": "soon",
            "printBlocked": true,
        ]
        let problems = AppProtectionPolicy.problems(in: json)
        #expect(
            Set(problems.map(\.place)) == ["displayName", "pinRequired", "minimumPinLength", "periodBeforePinReset"])
        #expect(problems.count == 4)
        #expect(throws: problems[0]) { try AppProtectionPolicy(graphJSON: json) }
        #expect(AppProtectionPolicy.problems(in: ["printBlocked": true]).isEmpty)
    }

    @Test func `what is no object is no policy`() {
        for json in ["[]", "1", "\"x\"", "null"] {
            #expect(throws: PolicyError(.wrongType, "", at: "")) { try AppProtectionPolicy(data: Data(json.utf8)) }
        }
    }
}

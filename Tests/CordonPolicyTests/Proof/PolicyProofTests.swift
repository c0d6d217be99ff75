import CordonIdentity
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@Suite struct PolicyProofTests {
    private func proof(_ text: String, of policy: AppProtectionPolicy) throws -> PolicyProof {
        try PolicyProof(of: PolicySentence(text), in: policy)
    }

    private static func broken(_ policy: AppProtectionPolicy) -> [String] {
        PolicySentence.promises.map { PolicyProof(of: $0, in: policy) }.filter { !$0.holds }.map(\.sentence)
    }

    @Test func `the twelve promises hold of the strictest baseline, and the others keep what their levels say`() {
        #expect(PolicySentence.promises.count == 12)
        #expect(Self.broken(.baseline(.level3)) == [])
        #expect(
            Self.broken(.baseline(.level2)) == ["never receive from personal to managed", "never print from managed"])
        #expect(
            Set(PolicySentence.promises.map(\.text)).subtracting(Self.broken(.baseline(.level1))) == [
                "never launch from managed if rooted", "launch from managed only if passcode",
                "never wipe launch from managed if rooted is false and offline at most 90d",
            ])
    }

    @Test func `a counterexample is a question of which the sentence is not true, with the answer`() throws {
        var policy = AppProtectionPolicy.baseline(.level3)
        policy.transfer.clipboardExceptionLength = 20
        let proof = try proof("never copy from managed to personal", of: policy)
        #expect(!proof.holds)
        let question = try Question(json: #require(proof.counterexample))
        #expect(question.action == .copy && question.owner?.account != nil)
        #expect(PolicySet(policy).decision(for: question).verdict == proof.verdict && proof.verdict?.permits == true)
        let limited = try self.proof("never copy from managed to personal if characters above 20", of: policy)
        #expect(limited.holds && limited.classes > 100)
    }

    @Test func `claims are read with their conditions`() throws {
        let strict = AppProtectionPolicy.baseline(.level3)
        for (text, holds) in [
            ("always print from personal", false), ("always print from personal unless shown-with is others", true),
            ("always print from managed", false), ("always block print from managed", true),
            ("never wipe launch", false), ("never wipe launch unless rooted or offline above 90d", true),
            ("never launch from managed if os below 17.0", true), ("never launch from managed if os below 17.1", false),
            ("launch from managed only if os at least 17 and rooted is false and passcode", true),
            ("launch from managed only if os at least 18", false),
            ("never launch from managed if offline above 12h", true),
            ("never launch from managed if offline above 11h", false),
            ("never save from managed unless account is own", true),
            ("never save from managed unless location is onedriveforbusiness or location is sharepoint", true),
            ("never save from managed unless location is onedriveforbusiness", false),
            ("never launch from managed if rooted is unknown or threat above secured", true),
            ("never launch from managed if not passcode", true),
            ("never send from managed to other", true),
            ("always send from managed to same if content is permitted", false),
            ("always send from managed to same if content is permitted unless shown-with is others", true),
        ] {
            let proof = try proof(text, of: strict)
            #expect(proof.holds == holds, "\(text): \(proof.counterexample?.text() ?? "proved")")
        }
    }

    @Test func `no list and no sentence names all models, schemes and links that there are`() throws {
        var policy = AppProtectionPolicy(id: "p")
        policy.launch.allowedModels = ["unlisted-model"]
        policy.launch.actionIfModelNotAllowed = .wipe
        let phone = "never wipe launch if rooted is false and offline below 1d"
        #expect(try !proof(phone, of: policy).holds)
        policy.transfer.exemptSchemes = []
        let schemes = ["http", "https", "tel", "telprompt", "sms", "mailto", "unlisted-scheme"]
        let others = schemes.map { "scheme is \($0)" }.joined(separator: " or ")
        #expect(try !proof("never openURL from managed to unmanaged unless \(others)", of: policy).holds)
        policy.transfer.outbound = .managedApps
        policy.transfer.exemptUniversalLinks = ["https://unlisted.invalid"]
        let limited = "never restrict openUniversalLink from managed if scheme is https unless shown-with is others"
        #expect(try !proof(limited, of: policy).holds)
        var wide = policy
        wide.transfer.exemptUniversalLinks = ["https://*.contoso.com"]
        for narrow in ["https://any-text.contoso.com", "https://*-text.contoso.com", "https://*a*n*y*.contoso.com"] {
            policy.transfer.exemptUniversalLinks = [narrow]
            #expect(!PolicyProof(that: wide, isNowhereWeakerThan: policy).holds, "\(narrow)")
            #expect(PolicyProof(that: policy, isNowhereWeakerThan: wide).holds, "\(narrow)")
        }
        // Of a whole host a link that climbs is exempt, too; of its paths none is.
        policy.transfer.exemptUniversalLinks = ["https://*.contoso.com/**"]
        #expect(!PolicyProof(that: wide, isNowhereWeakerThan: policy).holds)
        #expect(PolicyProof(that: policy, isNowhereWeakerThan: wide).holds)
    }

    @Test func `a word that cannot be read is named, with what was meant`() throws {
        for (text, meant) in [
            ("never cpy from managed", "did you mean copy?"), ("never copy from manged", "did you mean managed?"),
            ("never launch if roted", "did you mean rooted?"), ("copy from managed", "never ACTION"),
            ("never copy from managed please", "if, unless"), ("never launch if os above new", "is, above"),
            ("never launch if threat", "is, above"), ("never", "One of"), ("", "One of"),
        ] {
            let error = #expect(throws: PolicyError.self) { try PolicySentence(text) }
            #expect(error?.hint?.contains(meant) == true, "\(text): \(error?.description ?? "")")
        }
        let long = (0..<40).map { "online and attempts is \($0)" }.joined(separator: " or ")
        #expect(throws: PolicyError(.tooLarge, "", at: "")) { try PolicySentence("launch only if \(long)") }
        let error = #expect(throws: PolicyError.self) {
            try PolicySentence.sentences(in: "# promises\n\nnever print  from managed # ever\nnever prnt\n")
        }
        #expect(error?.place.hasPrefix("line 4") == true)
        let read = try PolicySentence.sentences(in: "# promises\n\nnever print  from managed # ever\n")
        #expect(read.map(\.text) == ["never print from managed"])
    }

    static let sentences = [
        "never copy from managed to personal", "always copy from managed to same",
        "never paste to managed from personal",
        "never send from managed to exempt unless scheme is mailto", "never save from managed if account is unknown",
        "never open to managed unless location is camera", "never receive from personal to managed",
        "never openURL from managed to unmanaged", "never openUniversalLink from managed",
        "always block print from managed unless content is permitted",
        "never webPaste from managed if characters above 4",
        "never launch from managed if rooted", "launch from managed only if passcode and attempts below 3",
        "never wipe launch unless rooted or threat above low", "always launch from managed if os at least 17.2",
        "never warn launch from managed", "never wipe launch if offline at most 1d",
        "never receiveItem to managed if loaded",
        "launch only if online or idle at most 20m", "never useKeyboard", "always restrict encryptFile from managed",
        "never copy from managed if shown-with is others",
    ]

    /// 30 policies in a plain run and 10,000 in a deep one, each asked some of the sentences.
    @Test(.seeded) func `what is proved is true of questions of every kind, and what is not has a counterexample`()
        throws
    {
        for _ in DeepRun(plain: 30, deep: 10_000) {
            var random = SeededGenerator(TestSeed.next())
            let policy = try PolicyGenerator.policy(&random, id: "P")
            let set = PolicySet(policy)
            for text in Self.sentences.shuffled(using: &random).prefix(4) {
                let sentence = try PolicySentence(text)
                let proof = PolicyProof(of: sentence, in: policy)
                if let counterexample = proof.counterexample {
                    let question = try Question(json: counterexample)
                    let verdict = set.verdict(for: question)
                    #expect(
                        verdict == proof.verdict && sentence.isBroken(by: question, answered: verdict),
                        "\(text): \(counterexample.text())")
                    continue
                }
                #expect(proof.holds && proof.classes > 0)
                for _ in 0..<400 {
                    var question = try PolicyGenerator.question(&random)
                    if Bool.random(using: &random) { question.action = sentence.action }
                    Self.rename(&question)
                    #expect(
                        !sentence.isBroken(by: question, answered: set.verdict(for: question)),
                        "\(text): \(question.json.text())")
                }
            }
        }
    }

    /// The accounts of the generator as the model calls them: whose data it is comes first.
    private static func rename(_ question: inout Question) {
        var own: AccountID = "oid-a"
        if case .managed(let account)? = question.owner { own = account }
        func name(_ account: AccountID) -> AccountID { account == own ? "work-account" : "other-work-account" }
        if case .managed(let account)? = question.owner { question.owner = .managed(name(account)) }
        question.locationAccount = question.locationAccount.map(name)
        if case .managed(let account?)? = question.peer?.account { question.peer?.account = .managed(name(account)) }
    }

    @Test(.seeded) func `every combination of a small device is answered as the groups of conditions say`() throws {
        for _ in 0..<20 {
            var random = SeededGenerator(TestSeed.next())
            var policy = try PolicyGenerator.policy(&random, id: "P")
            (policy.launch.appVersion, policy.launch.sdkVersion) = (VersionLimits(), VersionLimits())
            (policy.launch.actionIfClockedOut, policy.launch.actionIfAccountDisabled) = (nil, nil)
            policy.launch.allowedModels = nil
            policy.access.organizationalCredentialsRequired = false
            let set = PolicySet(policy)
            var reached: Set<Verdict> = []
            for facts in Self.smallDevices {
                reached.insert(set.decision(for: .launch, of: .managed("work-account"), given: facts).verdict)
            }
            for verdict in Verdict.allCases {
                let proof = try proof("never \(verdict.rawValue) launch from managed", of: policy)
                if reached.contains(verdict) { #expect(!proof.holds, "\(verdict)") }
                guard let counterexample = proof.counterexample else { continue }
                #expect(try set.verdict(for: Question(json: counterexample)) == verdict)
            }
        }
    }

    private static let smallDevices: [DeviceFacts] = {
        var all: [DeviceFacts] = []
        for rooted in [true, false, nil] {
            for passcode in [true, false] {
                for offline in [5, 20_000, 200_000] {
                    for attempts in [0, 4, 9] {
                        for idle in [0, 40] {
                            for (os, threat) in [("15.0", ThreatLevel.low), ("17.1", .secured), ("30.0", .high)] {
                                var facts = DeviceFacts()
                                (facts.rooted, facts.devicePINSet) = (rooted, passcode)
                                facts.sinceCheckIn = .seconds(offline * 60)
                                (facts.failedPINAttempts, facts.sincePIN) = (attempts, .seconds(idle * 60))
                                (facts.osVersion, facts.threatLevel) = (VersionNumber(os), threat)
                                facts.pinAge = .zero
                                all.append(facts)
                            }
                        }
                    }
                }
            }
        }
        return all
    }()

    @Test(.seeded) func `a policy is nowhere weaker than itself, a looser one and the parts it was merged of`() throws {
        for _ in 0..<3 {
            var random = SeededGenerator(TestSeed.next())
            var members = PolicyGenerator.members(&random, id: "P")
            guard let (name, values) = PolicyGenerator.choices.randomElement(using: &random) else { return }
            members[name] = values.last
            let loose = try AppProtectionPolicy(graphJSON: .object(members))
            members[name] = values.first
            let tight = try AppProtectionPolicy(graphJSON: .object(members))
            let other = try PolicyGenerator.policy(&random, id: "Q")
            let merged = try #require(EffectivePolicy.merging([loose, other])).policy
            for (policy, than) in [(loose, loose), (tight, loose), (merged, loose), (merged, other)] {
                let proof = PolicyProof(that: policy, isNowhereWeakerThan: than)
                #expect(proof.holds, "\(name): \(proof.counterexample?.text() ?? "")")
            }
            let back = PolicyProof(that: loose, isNowhereWeakerThan: tight)
            guard let counterexample = back.counterexample else { continue }
            let question = try Question(json: counterexample)
            let (verdict, before) = (PolicySet(loose).verdict(for: question), PolicySet(tight).verdict(for: question))
            #expect(verdict < before && verdict == back.verdict && before == back.verdictBefore)
        }
        let comparison = PolicyProof(that: .baseline(.level2), isNowhereWeakerThan: .baseline(.level3))
        #expect(!comparison.holds)
        #expect(PolicyProof(that: .baseline(.level3), isNowhereWeakerThan: .baseline(.level2)).holds)
        var raised = AppProtectionPolicy.baseline(.level2)
        raised.launch.osVersion.minimumRequired = VersionNumber("18.0")
        let lowered = PolicyProof(that: .baseline(.level2), isNowhereWeakerThan: raised)
        #expect(lowered.counterexample?["action"] == "launch" && lowered.verdictBefore == .block)
        #expect(PolicyProof(that: raised, isNowhereWeakerThan: .baseline(.level2)).holds)
    }

    /// Settings whose loosest value no ready sentence notices: they govern what the sentences do not speak of.
    static let outOfReach: Set<String> = [
        "allowWidgetContentSync", "allowedDataIngestionLocations", "allowedIosDeviceModels",
        "appActionIfAccountIsClockedOut", "appActionIfDeviceComplianceRequired",
        "appActionIfIosDeviceModelNotAllowed", "appActionIfMaximumPinRetriesExceeded",
        "appActionIfUnableToAuthenticateUser", "blockDataIngestionIntoOrganizationDocuments", "contactSyncBlocked",
        "customBrowserProtocol", "customDialerAppProtocol", "dialerRestrictionLevel",
        "disableAppPinIfDevicePinIsSet", "disableProtectionOfManagedOutboundOpenInData", "exemptedAppProtocols",
        "exemptedUniversalLinks", "faceIdBlocked", "filterOpenInToOnlyManagedApps", "fingerprintBlocked",
        "genmojiConfigurationState", "gracePeriodToBlockAppsDuringOffClockHours", "managedBrowser",
        "managedBrowserToOpenLinksRequired", "managedUniversalLinks", "maximumAllowedDeviceThreatLevel",
        "maximumPinRetries", "maximumRequiredOsVersion", "maximumWarningOsVersion", "maximumWipeOsVersion",
        "minimumPinLength", "minimumRequiredAppVersion", "minimumRequiredOsVersion", "minimumRequiredSdkVersion",
        "minimumWarningAppVersion", "minimumWarningOsVersion", "minimumWarningSdkVersion", "minimumWipeAppVersion",
        "minimumWipeOsVersion", "minimumWipeSdkVersion", "mobileThreatDefenseRemediationAction",
        "notificationRestriction", "organizationalCredentialsRequired", "periodBeforePinReset",
        "periodOfflineBeforeAccessCheck", "periodOfflineBeforeWipeIsEnforced", "periodOnlineBeforeAccessCheck",
        "pinCharacterSet", "pinRequired", "pinRequiredInsteadOfBiometricTimeout", "previousPinBlockCount",
        "protectInboundDataFromUnknownSources", "protectedMessagingRedirectAppType",
        "purviewContentEvaluationRequired", "simplePinBlocked", "thirdPartyKeyboardsBlocked",
        "writingToolsConfigurationState",
    ]

    @Test func `each weakening of the strictest baseline breaks a promise or is known to be out of their reach`() throws
    {
        var unnoticed: Set<String> = []
        for (name, values) in PolicyGenerator.choices {
            var members = AppProtectionPolicy.baseline(.level3).graphJSON.object ?? [:]
            members[name] = values.last
            let weakened = try AppProtectionPolicy(graphJSON: .object(members))
            if PolicySentence.promises.allSatisfy({ PolicyProof(of: $0, in: weakened).holds }) {
                unnoticed.insert(name)
            }
        }
        #expect(unnoticed == Self.outOfReach, "\(unnoticed.sorted())")
    }
}

import CordonIdentity
import CordonPolicy
import Testing

@Suite struct LaunchTests {
    private var healthy: DeviceFacts {
        var facts = DeviceFacts()
        facts.rooted = false
        facts.sinceCheckIn = .seconds(60)
        facts.sincePIN = .seconds(60)
        facts.failedPINAttempts = 0
        facts.devicePINSet = true
        return facts
    }

    private func launch(_ facts: DeviceFacts, _ change: (inout AppProtectionPolicy) -> Void = { _ in })
        -> PolicyDecision
    {
        var policy = AppProtectionPolicy(id: "p")
        change(&policy)
        return PolicySet(policy).decision(for: .launch, of: .managed("oid-a"), given: facts)
    }

    @Test func `a healthy device opens`() {
        #expect(launch(healthy).verdict == .allow)
        #expect(launch(healthy).launchActions.isEmpty)
    }

    @Test func `results are complete and the gravest comes first`() {
        var facts = healthy
        facts.osVersion = VersionNumber("14.0")
        facts.appVersion = VersionNumber("1.0")
        facts.sdkVersion = VersionNumber("1.0")
        facts.rooted = true
        let decision = launch(facts) {
            $0.launch.osVersion.minimumWipe = VersionNumber("14.0")
            $0.launch.appVersion.minimumRequired = VersionNumber("2.0")
            $0.launch.sdkVersion.minimumRequired = VersionNumber("2.0")
            $0.launch.sdkVersion.minimumWarning = VersionNumber("3.0")
        }
        #expect(
            decision.reasons.map(\.rule) == [
                "launch.os-version", "launch.rooted", "launch.sdk-version", "launch.app-version", "launch.sdk-version",
            ])
        #expect(decision.reasons.map(\.verdict) == [.wipe, .block, .block, .block, .warn])
        #expect(decision.launchActions == [.wipe, .refuse, .notify])
    }

    @Test func `cannot tell differs from bad and never wipes`() {
        var facts = healthy
        facts.rooted = nil
        let decision = launch(facts) { $0.launch.actionIfNotCompliant = .wipe }
        #expect(decision.verdict == .block)
        #expect(decision.reasons.map(\.rule) == ["question.incomplete"])
        facts.rooted = true
        #expect(launch(facts) { $0.launch.actionIfNotCompliant = .wipe }.verdict == .wipe)
        facts.rooted = nil
        #expect(launch(facts) { $0.launch.actionIfNotCompliant = .blockWhenSettingIsSupported }.verdict == .allow)
    }

    @Test func `an action that a condition does not take blocks, and the reason says so`() throws {
        // SRV-RS-066, SRV-RS-068, SRV-RS-086, SRV-RS-087
        var facts = healthy
        facts.rooted = true
        facts.threatLevel = .high
        facts.model = "b"
        facts.accountDisabled = true
        let warned = launch(facts) {
            $0.launch.maximumThreatLevel = .low
            $0.launch.allowedModels = ["a"]
            $0.launch.actionIfNotCompliant = .warn
            $0.launch.actionIfThreatened = .warn
            $0.launch.actionIfModelNotAllowed = .warn
            $0.launch.actionIfAccountDisabled = .warn
        }
        #expect(
            warned.reasons.map(\.rule) == [
                "launch.account", "launch.rooted", "launch.threat-level", "launch.device-model",
            ])
        for reason in warned.reasons {
            #expect(reason.verdict == .block && reason.message.contains("\"warn\" is not an action"), "\(reason)")
        }
        for status in ClockStatus.allCases where status != .clockedIn {
            var facts = healthy
            facts.clockStatus = status
            let wiped = launch(facts) { $0.launch.actionIfClockedOut = .wipe }
            let reason = try #require(wiped.reasons.first)
            #expect(wiped.verdict == .block && reason.rule == "launch.clock", "\(status)")
            #expect(reason.message.contains("\"wipe\" is not an action") && !reason.remedy.contains("removed"))
            let blocked = launch(facts) { $0.launch.actionIfClockedOut = .block }
            #expect(blocked.verdict == .block && blocked.reasons.allSatisfy { !$0.message.contains("not an action") })
        }
    }

    @Test func `a level of encryption that needs a passcode keeps data closed on a device without one`() {
        // SRV-RS-075, "requires a device passcode, prompt if none"; SDK-CL-01
        for level in EncryptionLevel.allCases {
            func answer(_ isSet: Bool?) -> PolicyDecision {
                var facts = healthy
                facts.devicePINSet = isSet
                return launch(facts) { $0.storage.encryption = level }
            }
            #expect(answer(true).verdict == .allow, "\(level)")
            guard level != .useDeviceSettings else {
                #expect(answer(false).verdict == .allow && answer(nil).verdict == .allow)
                continue
            }
            let (without, unknown) = (answer(false), answer(nil))
            #expect(without.verdict == .block && without.reasons.map(\.rule) == ["launch.device-passcode"], "\(level)")
            #expect(without.reasons.first?.setting == "appDataEncryptionType")
            #expect(without.launchActions == [.refuse])
            #expect(unknown.verdict == .block && unknown.reasons.map(\.rule) == ["question.incomplete"], "\(level)")
            #expect(unknown.reasons.first?.message.contains("device.devicePINSet") == true)
        }
    }

    @Test func `the version of the limit itself is wiped for system and app, and not for the library`() {
        // Decision 0035; SRV-RS-015, SRV-RS-083
        var facts = healthy
        facts.osVersion = VersionNumber("17.0")
        facts.appVersion = VersionNumber("17.0")
        facts.sdkVersion = VersionNumber("17.0")
        func verdict(_ limits: WritableKeyPath<ConditionalLaunch, VersionLimits>, _ limit: String) -> Verdict {
            launch(facts) { $0.launch[keyPath: limits].minimumWipe = VersionNumber(limit) }.verdict
        }
        #expect(verdict(\.osVersion, "17") == .wipe && verdict(\.appVersion, "17") == .wipe)
        #expect(verdict(\.sdkVersion, "17") == .allow)
        #expect(verdict(\.sdkVersion, "17.0.1") == .wipe)
    }

    @Test func `a clock turned back is noticed`() {
        var facts = healthy
        facts.sinceCheckIn = .seconds(-1)
        #expect(launch(facts).reasons.map(\.rule) == ["launch.clock-turned-back"])
        facts = healthy
        facts.sincePIN = .seconds(-1)
        #expect(launch(facts).reasons.map(\.rule) == ["launch.clock-turned-back"])
    }

    @Test func `each due thing asks for its own action`() {
        var facts = healthy
        facts.sincePIN = .seconds(3600)
        #expect(launch(facts).launchActions == [.askPIN])
        facts = healthy
        facts.failedPINAttempts = 5
        #expect(launch(facts).launchActions == [.resetPIN])
        facts = healthy
        facts.sinceCheckIn = .seconds(2 * 86_400)
        #expect(launch(facts).launchActions == [.checkIn])
        facts = healthy
        facts.sinceSignIn = .seconds(7200)
        #expect(launch(facts) { $0.access.organizationalCredentialsRequired = true }.launchActions == [.signIn])
    }

    @Test func `versions compare by number and missing fields are zero`() throws {
        let old = try #require(VersionNumber("9.9")), new = try #require(VersionNumber("10"))
        #expect(old < new)
        #expect(VersionNumber("17") == VersionNumber("17.0.0.0"))
        #expect(VersionNumber("17.10") != VersionNumber("17.1"))
        for text in ["", ".", "1.", "a", "1.2.3.4.5", "-1", "1..2", " 1"] {
            #expect(VersionNumber(text) == nil, "\(text)")
        }
    }
}

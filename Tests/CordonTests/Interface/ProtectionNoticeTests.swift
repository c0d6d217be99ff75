import Cordon
import CordonPolicy
import Testing

/// What a notice says of the reasons of a verdict.
@Suite struct ProtectionNoticeTests {
    @Test(arguments: [
        ("maximumAllowedDeviceThreatLevel", "how safe this device is"), ("allowedIosDeviceModels", "which model"),
        ("deviceComplianceRequired", "rooted"), ("appDataEncryptionType", "passcode"), ("", "rules look at"),
    ])
    func `a person reads in words what is not known, and no name of a fact or a rule`(
        _ setting: String, _ words: String
    ) {
        let reason = PolicyReason(
            rule: .questionIncomplete, setting: setting, message: "device.threatLevel is not known.",
            remedy: "Ask again with device.threatLevel given (needed by launch.threat-level).", verdict: .block)
        let cause = ProtectionNotice.Cause(reason)
        #expect(cause.message.contains(words) && cause.remedy.contains("ask your administrator"))
        for text in [cause.message, cause.remedy] {
            #expect(!text.contains("device.") && !text.contains("launch.") && !text.contains("threatLevel"), "\(text)")
        }
        #expect(cause.rule == "question.incomplete", "an administrator finds the rule")
    }

    @Test func `every other reason is said as it stands`() {
        let reason = PolicyReason(
            rule: .launchThreat, setting: "maximumAllowedDeviceThreatLevel", message: "m", remedy: "r", verdict: .block)
        let cause = ProtectionNotice.Cause(reason)
        #expect(cause.message == "m" && cause.remedy == "r")
    }
}

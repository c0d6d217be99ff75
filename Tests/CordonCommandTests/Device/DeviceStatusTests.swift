import ArgumentParser
import CordonIdentity
import CordonTestSupport
import Foundation
import Testing

@testable import CordonCommand
@testable import CordonSignIn

/// What `cordon device status` says to the person who set the device up.
@Suite struct DeviceStatusTests {
    private func text(
        _ missing: [DeviceInformation.MissingPart] = [], warnings: [DeviceInformation.Warning] = [],
        problems: [String]? = nil
    ) -> String {
        var information = DeviceInformation(
            mode: missing.isEmpty ? .shared : .personal, missing: missing, registration: nil, brokerVersion: "1",
            protocolVersion: 2, session: 1, warnings: warnings, preferredAuthenticationMethod: nil)
        information.problems = problems
        return DeviceStatusCommand.text(information)
    }

    @Test func `every part that is missing comes with what to do about it`() {
        #expect(text().hasPrefix("shared"))
        let remedies = DeviceInformation.MissingPart.allCases.map { part in
            text([part]).split(separator: "\n").first { $0.hasPrefix("missing ") }
        }
        #expect(text([.registration]).hasPrefix("not shared yet"))
        for (part, line) in zip(DeviceInformation.MissingPart.allCases, remedies) {
            #expect(line?.contains(" \(part.rawValue): ") == true)
        }
        #expect(!remedies.contains(nil) && Set(remedies).count == DeviceInformation.MissingPart.allCases.count)
        #expect(text([.registration]).contains("cordon device join"))
        for part in [DeviceInformation.MissingPart.profile, .managedConfiguration] {
            #expect(text([part]).contains("sharedDeviceMode"))
        }
    }

    @Test func `every warning and every problem has its line, and none can forge another`() {
        for warning in DeviceInformation.Warning.allCases {
            let line = text(warnings: [warning]).split(separator: "\n").first { $0.hasPrefix("warning ") }
            #expect(line?.contains("\(warning.rawValue): ") == true, "\(warning)")
        }
        let told = text(problems: ["/opt/x cannot be served", "a\nshared\u{1B}[2J"])
        #expect(told.split(separator: "\n").count { $0.hasPrefix("problem ") } == 2)
        #expect(!told.contains("\u{1B}") && !told.contains("\nshared"))
    }

    @Test func `the page for administrators names every line that status can print`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../../docs/sharing-a-device.md")
                .standardizedFileURL, encoding: .utf8)
        for part in DeviceInformation.MissingPart.allCases { #expect(page.contains("`missing \(part.rawValue)`")) }
        for warning in DeviceInformation.Warning.allCases { #expect(page.contains("`warning \(warning.rawValue)`")) }
    }

    @Test
    func `an administrator's command waits for a broker that reads large programs, and for no other answer longer`()
        async throws
    {
        let device = try DeviceOptions.parse(["--socket", "/nowhere/broker.sock"]).device()
        for verb in BrokerVerb.allCases {
            let deadline = await device.link.deadline(verb)
            #expect(verb == .deviceInfo ? deadline >= .seconds(60) : deadline == verb.deadline, "\(verb)")
        }
    }

    @Test func `without a broker status says so and how to go on`() async {
        let command = try? DeviceStatusCommand.parse(["--socket", "/nowhere/broker.sock"])
        await #expect {
            try await command?.run()
        } throws: { error in
            guard let failure = error as? CommandFailure else { return false }
            return failure.status == .notInWantedState && failure.message.contains("no broker answers")
        }
    }
}

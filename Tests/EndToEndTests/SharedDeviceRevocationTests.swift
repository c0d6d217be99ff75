import CordonDemo
import CordonLeakScan
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// An administrator ends a worker's sessions at the service, and the shared device that they are on ends theirs (SI-182).
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct SharedDeviceRevocationTests {
    @Test func `sessions that an administrator ends end on the shared device, and its apps hear why`() async throws {
        try await Programs.onStage { stage in
            let address = try await stage.runningService().address
            let device = try await SharedDevice.begin(
                on: stage, options: ["--service", address.absoluteString, "--report-interval", "1"])
            let administrator = try await stage.administrator()
            func isListed(_ account: String?) async throws -> Bool {
                let devices = try await administrator.sharedDevices()
                return devices.count == 1 && devices.first?["account"]?.string == account
            }
            let one = try await device.app("one")
            let two = try await device.app("two")
            let account = try await device.signIn("a", in: one)
            try await two.ask("post bed 7 is free")
            try await until { try await isListed(account) }

            // The control: the device tells of another program after another worker's sessions ended, and no one is signed out.
            try await administrator.revokeSessions(of: stage.worker("b").name)
            #expect(try await device.tool.run(["account"]).status == 0)
            try await until {
                let apps = try await administrator.sharedDevices().first?["apps"]?.array ?? []
                return apps.contains { $0["name"] == "cordon" }
            }
            #expect(try await two.ask("show")["text"] == "bed 7 is free")

            try await administrator.revokeSessions(of: stage.worker("a").name)
            for app in [one, two] {
                let heard = try await app.event("cleanedUp")
                #expect(heard["account"] == account && heard["reason"] == "revoked")
                #expect(try await app.ask("show").members["ok"]?.bool == false)
                #expect(try await app.ask("token").members["ok"]?.bool == false)
            }
            try await until { try await isListed(nil) }
            #expect(try LeakScan.files(below: stage.home(of: "two").path).allSatisfy { !$0.contains("/remarks/") })

            // The device is free for the next worker, who stays.
            let next = try await device.signIn("b", in: two)
            try await until { try await isListed(next) }
            #expect(try await two.ask("look")["current"] == next)
            #expect(try await two.ask("show")["text"] == "")
        }
    }
}

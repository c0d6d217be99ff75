import CordonDemo
import CordonPolicy
import Foundation
import Testing

/// A shared device with its broker, joined by an administrator: where the tests of shared devices begin.
struct SharedDevice {
    let stage: DemoStage
    let broker: BrokerProcess
    let tool: DeviceTool

    /// Starts service and broker and joins the device.
    static func begin(on stage: DemoStage, options: [String] = []) async throws -> SharedDevice {
        let service = try await stage.runningService()
        let broker = try await stage.broker(
            issuer: try #require(service.announcement["issuer"]?.string), options: options)
        let device = SharedDevice(
            stage: stage, broker: broker,
            tool: DeviceTool(cordon: stage.cordon, socket: broker.socket, transport: stage.transport))
        let joined = try await device.tool.run(["join"], as: try stage.administratorsPassword())
        #expect(joined.status == 0, "\(joined.words)")
        return device
    }

    /// The same device after its broker was killed and started again.
    func restarted() async throws -> SharedDevice {
        await stage.killBroker()
        let issuer = try #require(try await stage.runningService().announcement["issuer"]?.string)
        let again = try await stage.broker(issuer: issuer)
        return SharedDevice(
            stage: stage, broker: again,
            tool: DeviceTool(cordon: stage.cordon, socket: again.socket, transport: stage.transport))
    }

    /// Starts an app of the device.
    func app(_ name: String, _ options: [String] = []) async throws -> AppSession {
        try await stage.sharedApp(name, at: broker, options)
    }

    /// Signs a worker in with an app.
    @discardableResult
    func signIn(_ letter: Character, in app: AppSession) async throws -> String {
        let answer = try await stage.signIn(try stage.worker(letter), in: app)
        #expect(answer.members["ok"]?.bool == true, "\(answer["message"] ?? "")")
        return try #require(answer["account"])
    }
}

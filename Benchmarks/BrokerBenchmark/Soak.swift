import CordonDemo
import Foundation
import SteadyState

/// A shared device's days in a loop, of real processes: two workers in turn sign in with one app, work in another, and sign out; an app
/// is started anew and asks for what changed. What the broker, the service with its provider, and an app hold is watched (R18).
struct Soak {
    /// Where `cordon` and `ShiftBoard` are.
    let programs: URL
    let seconds: Int

    /// Runs; whether every process held as much at the end as before.
    func run() async throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cordon-soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stage = DemoStage(
            cordon: programs.appending(path: "cordon"), app: programs.appending(path: "FieldNotes"), folder: folder)
        do {
            let isSteady = try await run(on: stage)
            await stage.strike()
            return isSteady
        } catch {
            await stage.strike()
            throw error
        }
    }

    private func run(on stage: DemoStage) async throws -> Bool {
        let service = try await stage.runningService()
        guard let issuer = service.announcement["issuer"]?.string else { throw CocoaError(.fileReadUnknown) }
        let broker = try await stage.broker(issuer: issuer)
        let tool = DeviceTool(cordon: stage.cordon, socket: broker.socket, transport: stage.transport)
        guard try await tool.run(["join"], as: try stage.administratorsPassword()).status == 0 else {
            throw CocoaError(.userCancelled)
        }
        let app = try await stage.sharedApp("one", at: broker)
        let other = try await stage.sharedApp("two", at: broker)
        var held = [
            ("broker", broker.process), ("service", service.process), ("app", app.process),
        ].map { ($0, SteadyState(seconds: seconds, process: $1.id)) }
        var shifts = 0
        while !held[0].1.isOver {
            try await stage.signIn(try stage.worker(shifts.isMultiple(of: 2) ? "a" : "b"), in: app)
            for number in 0..<10 { try await other.ask("post bed \(number) is free") }
            guard try await other.ask("show")["text"]?.contains("bed 9 is free") == true else {
                throw CocoaError(.fileReadCorruptFile)
            }
            _ = try await tool.run(["status"])
            try await other.ask("sign-out")
            guard try await other.ask("show").members["ok"]?.bool == false else {
                throw CocoaError(.fileReadCorruptFile)
            }
            shifts += 1
            for index in held.indices { try held[index].1.look() }
        }
        let verdicts = held.map { ($0.0, $0.1.verdict) }
        let told = verdicts.map { "\($0.0): \($0.1.text)" }.joined(separator: "; ")
        print("proof: \(shifts) shifts in \(seconds) s; \(told)")
        return verdicts.allSatisfy(\.1.isSteady)
    }
}

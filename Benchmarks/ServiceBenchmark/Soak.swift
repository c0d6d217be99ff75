import CordonHTTPClient
import CordonProtocol
import CordonTesting
import Foundation
import SteadyState

/// The lives of apps in a loop: registered, checked in, told of changes over streams, and wiped, while policies change, strangers knock
/// and the service's upkeep runs.
struct Soak {
    /// Apps in a round, each of another person.
    private static let apps = 8

    private let service: ServiceProcess
    private let transport = AsyncHTTPTransport()
    private let load: Load

    private init(_ service: ServiceProcess) {
        self.service = service
        load = Load(service: service, transport: transport)
    }

    /// Runs for so long; whether what the service's process holds stayed as it was.
    static func run(seconds: Int, in folder: URL) async throws -> Bool {
        let service = try ServiceProcess.start(in: folder)
        defer { kill(service.process.processIdentifier, SIGKILL) }
        let soak = Soak(service)
        do {
            let isSteady = try await soak.run(seconds: seconds)
            await soak.transport.shutdown()
            return isSteady
        } catch {
            await soak.transport.shutdown()
            throw error
        }
    }

    private func run(seconds: Int) async throws -> Bool {
        var held = SteadyState(seconds: seconds, process: service.process.processIdentifier)
        var rounds = 0
        while !held.isOver {
            try await round(rounds)
            rounds += 1
            try held.look()
        }
        let (text, isSteady) = held.verdict
        print("proof: \(rounds * Self.apps) lives of apps in \(seconds) s, \(text)")
        return isSteady
    }

    private func round(_ number: Int) async throws {
        let people = (0..<Self.apps).map { ServiceProcess.person((number * Self.apps + $0) % ServiceProcess.people) }
        let devices = try await service.devices(named: "soak-\(number)", of: people, over: transport)
        let streams = try await Streams.open(on: Array(devices.prefix(2)), at: service.base)
        _ = streams.begun()
        for _ in 0..<3 {
            for device in devices {
                // Rooted in turn, so that each envelope says something else than the one before.
                let isRooted = await device.envelope?.compliance == nil
                try await device.checkIn(health: isRooted ? [.rootedDevice] : [])
            }
        }
        let owner = try service.issuer.ownerToken(of: ServiceProcess.tenant)
        try await load.get("beta/deviceAppManagement/iosManagedAppProtections", token: owner)
        // A stranger: nothing of the answer matters, but that it is given.
        _ = try? await load.get("beta/deviceAppManagement/iosManagedAppProtections", token: "no token \(number)")
        _ = try? await load.get("mam/v1/registrations/\(UUID().uuidString)")
        for (person, device) in zip(people, devices) {
            try await load.post(
                "v1.0/users/\(person.id.rawValue)/wipeManagedAppRegistrationsByDeviceTag",
                ["deviceTag": .string(await device.device.tag)], token: owner)
            try await device.checkIn()
            try await device.carryOutWipes()
        }
        streams.close()
    }
}

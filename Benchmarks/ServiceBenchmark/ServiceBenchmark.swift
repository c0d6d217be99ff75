import CordonHTTPClient
import CordonIdentity
import CordonProtocol
import CordonTesting
import Foundation
import Glibc

/// What the service costs: check-ins and reads against a bare route of the same server in the same run, memory for each
/// open event stream, and a change of policy while registrations grow.
///
/// Times are of the service's process alone, so other work on the machine changes them little.
@main
struct ServiceBenchmark {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "serve", arguments.count == 2 {
            return try await ServiceProcess.serve(in: URL(filePath: arguments[1]))
        }
        guard try await measure(arguments) else { exit(1) }
    }

    /// Measures what the arguments say; whether every goal is met.
    private static func measure(_ arguments: [String]) async throws -> Bool {
        // `growth 10000 100000 [FOLDER]`: growth alone, at these numbers of registrations; a folder that stays keeps the stores
        // and what was measured at other numbers.
        if arguments.first == "growth" {
            let sizes = arguments.dropFirst().compactMap { Int($0) }
            let kept = arguments.dropFirst().last.flatMap { Int($0) == nil ? URL(filePath: $0) : nil }
            let folder =
                kept ?? FileManager.default.temporaryDirectory.appending(path: "cordon-growth-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { if kept == nil { try? FileManager.default.removeItem(at: folder) } }
            return try await Growth.measure(sizes.isEmpty ? [1_000, 10_000] : sizes, in: folder).isEmpty
        }
        // `tokens`: what verifying tokens costs, alone.
        if arguments.first == "tokens" {
            try await Tokens.measure()
            return Meter.areGoalsMet
        }
        // `migrate 1000000 FOLDER`: a store of the first version with so many registrations, brought to the present one.
        if arguments.first == "migrate", arguments.count == 3, let size = Int(arguments[1]) {
            return try await Migration.measure(size, in: URL(filePath: arguments[2]))
        }
        if arguments.first == "console" { return try await Console.measure(arguments.dropFirst()) }
        raiseDescriptors()
        let scale = arguments.first.flatMap { Double($0) } ?? 1
        let folder = FileManager.default.temporaryDirectory.appending(path: "cordon-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let service = try ServiceProcess.start(in: folder)
        defer { kill(service.process.processIdentifier, SIGKILL) }
        let transport = AsyncHTTPTransport()
        do {
            try await requests(to: service, over: transport, scale: scale)
            try await streams(of: service, over: transport, count: Int(10_000 * scale))
        } catch {
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
        print("")
        try await Tokens.measure()
        try await Store.measure(in: folder)
        let grows = try await Growth.measure([1_000, 10_000, Int(100_000 * scale)], in: folder).isEmpty
        return grows && Meter.areGoalsMet
    }

    private static func requests(
        to service: ServiceProcess, over transport: AsyncHTTPTransport, scale: Double
    ) async throws {
        let all = try await devices(
            Load.connections, "tag", of: service, over: transport, person: ServiceProcess.person)
        let load = Load(service: service, transport: transport)
        let owner = try service.issuer.ownerToken(of: ServiceProcess.tenant)
        let number = Int(8_000 * scale)
        _ = try await load.measure("warm-up", requests: number / 4) { _ in try await load.get("healthz") }
        let bare = try await load.measure("bare route (GET /healthz)", requests: number) { _ in
            try await load.get("healthz")
        }
        let unchanged = try await load.measure("check-in, unchanged", requests: number) { connection in
            try await all[connection].checkIn()
        }
        let changed = try await load.measure("check-in, changed", requests: number / 4) { connection in
            // Rooted in turn, so that every envelope says something else than the one before.
            let isRooted = await all[connection].envelope?.compliance == nil
            try await all[connection].checkIn(health: isRooted ? [.rootedDevice] : [])
        }
        let read = try await load.measure("policy read (Graph)", requests: number) { _ in
            try await load.get("beta/deviceAppManagement/iosManagedAppProtections", token: owner)
        }
        print("                                answers/s per core   x bare   p50 ms   p99 ms")
        for cost in [bare, unchanged, changed, read] {
            print(
                cost.name.padding(toLength: 32, withPad: " ", startingAt: 0)
                    + String(
                        format: "%18.0f %8.2f %8.2f %8.2f", cost.perCore, cost.perCore / bare.perCore, cost.median,
                        cost.p99))
        }
    }

    private static func streams(
        of service: ServiceProcess, over transport: AsyncHTTPTransport, count: Int
    ) async throws {
        let worker = ServiceProcess.person(60)
        let warm = try await Streams.open(
            on: try await devices(50, "warm", of: service, over: transport) { _ in worker }, at: service.base)
        _ = warm.begun()
        let all = try await devices(count / Streams.perDevice, "streams", of: service, over: transport) { _ in
            worker
        }
        let before = service.memory
        let open = try await Streams.open(on: all, at: service.base)
        let begun = open.begun()
        let used = service.memory - before
        print("\n\(begun) of \(count) event streams open: \(used / max(1, begun)) bytes each")
        open.close()
        warm.close()
    }

    /// Registered devices, each with a key of its own.
    private static func devices(
        _ count: Int, _ name: String, of service: ServiceProcess, over transport: AsyncHTTPTransport,
        person: (Int) -> ManagedAccount
    ) async throws -> [SimulatedDevice] {
        let issuer = service.issuer
        var devices: [SimulatedDevice] = []
        for number in 0..<count {
            let account = person(number)
            let cache = TokenCache()
            let device = SimulatedDevice(
                service: service.base, pin: service.rootKey, account: account, bundleID: ServiceProcess.bundleID,
                tag: "\(name)-\(number)", transport: transport
            ) { key in try await cache.token { try issuer.checkInToken(account, boundTo: key) } }
            try await device.register()
            devices.append(device)
        }
        return devices
    }

    private static func raiseDescriptors() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// One token for as long as the run lasts.
actor TokenCache {
    private var known: String?

    func token(_ make: () throws -> String) rethrows -> String {
        if let known { return known }
        let token = try make()
        known = token
        return token
    }
}

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
        if arguments.first == "serve", arguments.count >= 2 {
            return try await ServiceProcess.serve(
                in: URL(filePath: arguments[1]), isSecure: arguments.dropFirst(2).contains("tls"))
        }
        guard arguments.first.map({ names.contains($0) || Double($0) != nil }) ?? true else {
            print(
                "usage: ServiceBenchmark [SCALE] | http [SCALE] | tokens | growth SIZE… [FOLDER] | console [SIZE [FOLDER]] | migrate SIZE FOLDER | soak SECONDS"
            )
            exit(2)
        }
        guard try await measure(arguments) else { exit(1) }
    }

    /// The parts that can be measured alone; a number is the scale of all of them.
    private static let names: Set<String> = ["http", "tokens", "growth", "console", "migrate", "soak"]

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
        // `soak SECONDS`: what the service holds while apps come and go.
        if arguments.first == "soak" {
            let folder = try scratch()
            defer { try? FileManager.default.removeItem(at: folder) }
            return try await Soak.run(seconds: arguments.dropFirst().first.flatMap { Int($0) } ?? 60, in: folder)
        }
        // `http [SCALE]`: check-ins against a bare route, where their time goes, and streams.
        let isShort = arguments.first == "http"
        if arguments.first == "console" { return try await Console.measure(arguments.dropFirst()) }
        raiseDescriptors()
        let scale = arguments.dropFirst(isShort ? 1 : 0).first.flatMap { Double($0) } ?? 1
        let folder = try scratch()
        defer { try? FileManager.default.removeItem(at: folder) }
        try await overHTTP(in: folder, scale: scale)
        if isShort { return Meter.areGoalsMet }
        print("")
        try await Tokens.measure()
        try await Store.measure(in: folder)
        let grows = try await Growth.measure([1_000, 10_000, Int(100_000 * scale)], in: folder).isEmpty
        return grows && Meter.areGoalsMet
    }

    /// Requests and streams, of services in processes of their own.
    private static func overHTTP(in folder: URL, scale: Double) async throws {
        let plain = try ServiceProcess.start(in: folder)
        let transport = AsyncHTTPTransport()
        do {
            try await requests(to: plain, over: transport, scale: scale)
            try await streams(of: plain, over: transport, count: Int(10_000 * scale))
        } catch {
            kill(plain.process.processIdentifier, SIGKILL)
            await transport.shutdown()
            throw error
        }
        kill(plain.process.processIdentifier, SIGKILL)
        await transport.shutdown()
        try await CheckInParts.measure(in: folder)
        let inside = folder.appending(path: "tls")
        try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: true)
        let secured = try AsyncHTTPTransport(trust: try ServiceCertificate(in: inside).trust)
        let secure = try ServiceProcess.start(in: inside, isSecure: true)
        do {
            try await secureStreams(of: secure, over: secured, count: Int(10_000 * scale))
        } catch {
            kill(secure.process.processIdentifier, SIGKILL)
            await secured.shutdown()
            throw error
        }
        kill(secure.process.processIdentifier, SIGKILL)
        await secured.shutdown()
    }

    private static func requests(
        to service: ServiceProcess, over transport: AsyncHTTPTransport, scale: Double
    ) async throws {
        let all = try await service.devices(
            named: "tag", of: (0..<Load.connections).map(ServiceProcess.person), over: transport)
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
        print("                                answers/s per core   x bare  µs each   p50 ms   p99 ms")
        for cost in [bare, unchanged, changed, read] {
            print(
                cost.name.padding(toLength: 32, withPad: " ", startingAt: 0)
                    + String(
                        format: "%18.0f %8.2f %8.0f %8.2f %8.2f", cost.perCore, cost.perCore / bare.perCore,
                        1e6 / max(cost.perCore, 1), cost.median, cost.p99))
        }
        Meter.say("check-in unchanged, times a bare route", [unchanged.perCore / bare.perCore], atLeast: 0.3)
    }

    /// The people with event streams, who have a few devices each.
    private static func workers(_ count: Int) -> [ManagedAccount] {
        (0..<count).map { number in
            ServiceProcess.person(Load.connections + number % (ServiceProcess.people - Load.connections))
        }
    }

    private static func streams(
        of service: ServiceProcess, over transport: AsyncHTTPTransport, count: Int
    ) async throws {
        let warm = try await Streams.open(
            on: try await service.devices(named: "warm", of: workers(50), over: transport), at: service.base)
        _ = warm.begun()
        let all = try await service.devices(
            named: "streams", of: workers(count / Streams.perDevice), over: transport)
        let before = service.memory
        let open = try await Streams.open(on: all, at: service.base)
        let begun = open.begun()
        let used = service.memory - before
        print("\n\(begun) of \(count) event streams open: \(used / max(1, begun)) bytes each")
        Meter.say("kilobytes of a stream over plain HTTP", [Double(used) / Double(max(1, begun)) / 1_000], atMost: 20)
        open.close()
        warm.close()
    }

    private static func secureStreams(
        of service: ServiceProcess, over transport: AsyncHTTPTransport, count: Int
    ) async throws {
        let warm = try await SecureStreams.open(
            on: try await service.devices(named: "warm", of: workers(50), over: transport), at: service.base)
        _ = try await warm.begun()
        let all = try await service.devices(
            named: "streams", of: workers(count / Streams.perDevice), over: transport)
        let before = service.memory
        let open = try await SecureStreams.open(on: all, at: service.base)
        let begun = try await open.begun()
        let used = service.memory - before
        print("\n\(begun) of \(count) event streams open by TLS 1.3: \(used / max(1, begun)) bytes each")
        try await open.close()
        try await warm.close()
    }

    private static func scratch() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cordon-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
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

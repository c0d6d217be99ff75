import CordonIdentity
import CordonVault
import CordonVaultSQLite
import Foundation

/// Kills a process that writes, at random moments, and looks at what it left: `VaultCrash [KILLS] [SEED]`. `CORDON_SECONDS` ends it.
///
/// In turn: a sealed file, a sealed database in two journal modes, a wipe. After each kill everything that was said to be
/// durable must be there, nothing may be unreadable, and a wipe that began must end (reliability row R7). Ends with one
/// line of counts, or with the first failure and the seed that repeats its workload.
@main
struct VaultCrash {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == "--child", let load = Load(rawValue: arguments[2]) {
            return try await load.work(Scene(URL(fileURLWithPath: arguments[3])))
        }
        let kills = arguments.dropFirst().first.flatMap { Int($0) } ?? 1000
        var random = Random(arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? 1)
        let memory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let end = ProcessInfo.processInfo.environment["CORDON_SECONDS"].flatMap { Int($0) }.map {
            ContinuousClock.now + .seconds($0)
        }
        let isOver = { end.map { ContinuousClock.now >= $0 } ?? false }
        var counts = Counts()
        for load in Load.allCases { counts.kills[load.rawValue] = 0 }
        while counts.total < kills, !isOver() {
            for (place, load) in Load.allCases.enumerated() where counts.total < kills && !isOver() {
                // Each load has its part of the time that is left.
                let turn = end.map { ContinuousClock.now + ($0 - .now) / (Load.allCases.count - place) }
                let scene = Scene(URL(fileURLWithPath: memory + "/cordon-crash-\(getpid())-\(load.rawValue)"))
                try await load.prepare(scene)
                for _ in 0..<min(load.killsPerScene, kills - counts.total) {
                    if let turn, ContinuousClock.now >= turn { break }
                    try FileManager.default.createDirectory(at: scene.folder, withIntermediateDirectories: true)
                    try scene.forgetAcknowledged()
                    let child = try spawn(arguments[0], ["--child", load.rawValue, scene.folder.path])
                    // Every other kill comes after a first commit, the rest anywhere from the program's start on.
                    if counts.total.isMultiple(of: 2) { scene.awaitAcknowledgement() }
                    usleep(UInt32(random.next(below: load.longestLife)))
                    kill(child, SIGKILL)
                    var status: Int32 = 0
                    waitpid(child, &status, 0)
                    if let fault = try await load.fault(scene) {
                        print("{\"failed\": \"\(load.rawValue)\", \"after\": \(counts.total), \"why\": \"\(fault)\"}")
                        print("The files are in \(scene.folder.path).")
                        exit(1)
                    }
                    counts.kills[load.rawValue, default: 0] += 1
                    if let acknowledged = scene.acknowledged(), acknowledged > 0 { counts.withCommits += 1 }
                    if load == .wipe { try await load.prepare(scene) }
                    if counts.total.isMultiple(of: 1000) {
                        FileHandle.standardError.write(Data((counts.line + "\n").utf8))
                    }
                }
                try? FileManager.default.removeItem(at: scene.folder)
            }
        }
        print("proof: \(counts.line), seed \(arguments.dropFirst(2).first ?? "1")")
    }

    private static func spawn(_ program: String, _ arguments: [String]) throws -> pid_t {
        var child: pid_t = 0
        var pointers = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        guard posix_spawn(&child, program, nil, nil, &pointers, environ) == 0 else {
            throw CocoaError(.executableLoad)
        }
        return child
    }
}

/// How many kills there were.
struct Counts {
    var kills: [String: Int] = [:]
    /// After how many of them there was something committed to look for.
    var withCommits = 0
    var total: Int { kills.values.reduce(0, +) }

    var line: String {
        let parts = kills.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return
            "\(total) kills (\(parts.joined(separator: ", "))), \(withCommits) with something acknowledged to look for, 0 lost"
    }
}

/// Random numbers that a seed repeats.
struct Random {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next(below limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
}

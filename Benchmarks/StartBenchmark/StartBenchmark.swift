import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonVault
import Foundation
import Logging

/// What the start of an app costs, in the processor's milliseconds: `StartBenchmark [ROUNDS]`.
///
/// Every figure is the median of fresh processes: linking alone, the work that no start can do without (``Floor``), the first `AppProtection` in an empty folder, and, with
/// rules in place, from nothing to the first decision, with the key unlocked and the stored envelope verified again
/// (performance goal P14). Then what questions cost (``Questions``, P6) and many files (``Files``, P15); `--questions` and `--files`
/// measure these alone. One JSON object a line.
@main
struct StartBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "--nothing": return
        case "--floor": try Floor.measure(in: folder(arguments))
        case "--enrol": try await enrol(in: folder(arguments))
        case "--start": try await start(in: folder(arguments))
        case "--files": try await Files.measure(rounds: 11)
        case "--questions": try await Questions.measure()
        default:
            try measure(rounds: arguments.first.flatMap { Int($0) } ?? 21)
            try await Questions.measure()
            try await Files.measure(rounds: 11)
        }
    }

    private static func folder(_ arguments: ArraySlice<String>) -> URL {
        URL(filePath: arguments.dropFirst().first ?? "start-benchmark", directoryHint: .isDirectory)
    }

    private static func measure(rounds: Int) throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "cordon-start-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        let enrolled = home.appending(path: "enrolled")
        _ = try Child.run(["--enrol", enrolled.path])
        var linked: [Double] = [], floor: [Double] = [], started: [Start] = [], first: [Start] = []
        for round in 0..<rounds {
            linked.append(try Child.run(["--nothing"]).cpu)
            floor.append(Double(try Child.run(["--floor", enrolled.path]).text.filter { !$0.isWhitespace }) ?? .nan)
            first.append(try Start(Child.run(["--start", home.appending(path: "empty-\(round)").path]).text))
            started.append(try Start(Child.run(["--start", enrolled.path]).text))
        }
        say("link only, the whole process", linked)
        say("control: the files and the cryptography of a start, in a program that does nothing else", floor)
        say("P14 first AppProtection, empty folder", first.map(\.made))
        say("P14 AppProtection with rules in place", started.map(\.made))
        say("first decision with rules in place", started.map(\.decided))
        say("P14 start to first decision with rules in place", started.map { $0.made + $0.decided }, atMost: 3)
        guard started.allSatisfy({ $0.verdict == "block" }), first.allSatisfy({ $0.verdict != "allow" }) else {
            throw CocoaError(.fileReadCorruptFile)
        }
    }

    private static func enrol(in folder: URL) async throws {
        let service = try InProcessService(rootIn: folder)
        let protection = try await AppProtection(configuration(in: folder, over: service))
        guard await protection.enroll(service.account) == .newPolicies else { throw CocoaError(.fileWriteUnknown) }
        try await protection.files.write(Data("the plan".utf8), as: "plan.txt", of: service.account.id)
        try Floor.prepare(in: folder)
    }

    private static func start(in folder: URL) async throws {
        let service = try InProcessService(rootIn: folder)
        let configuration = try configuration(in: folder, over: service)
        let begin = Child.ownTime
        let protection = try await AppProtection(configuration)
        let made = Child.ownTime
        let decision = protection.decision(for: Question(.print, owner: .managed(service.account.id)))
        let decided = Child.ownTime
        print((made - begin) * 1e3, (decided - made) * 1e3, decision.verdict.rawValue)
    }

    static func configuration(in folder: URL, over service: InProcessService) throws -> ProtectionConfiguration {
        ProtectionConfiguration(
            application: ApplicationFacts(bundleID: InProcessService.bundleID, version: "1.0", sdkVersion: "0.1"),
            device: DeviceDescription(tag: "tag-1", osVersion: "1.0", model: "benchmark"),
            service: try InProcessService.url(""), rootKey: service.root.publicKey.thumbprint,
            dataDirectory: folder.appending(path: "data"),
            keyStore: FileKeyStore(directory: folder.appending(path: "keys")), transport: service,
            sessions: HeldSession(), logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func say(_ what: String, _ milliseconds: [Double], atMost most: Double? = nil) {
        let sorted = milliseconds.sorted()
        guard let lowest = sorted.first, let highest = sorted.last else { return }
        let median = sorted[sorted.count / 2]
        let goal = most.map { ", \"atMost\": \($0), \"met\": \(median <= $0)" } ?? ""
        print(
            "{\"what\": \"\(what)\", \"milliseconds\": \(rounded(median))\(goal), \"lowest\": \(rounded(lowest)), \"highest\": \(rounded(highest))}"
        )
    }

    private static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }
}

/// What one start told.
private struct Start {
    let made: Double
    let decided: Double
    let verdict: String

    init(_ text: String) throws {
        let words = text.split { $0.isWhitespace }
        guard words.count == 3, let made = Double(words[0]), let decided = Double(words[1]) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        self.made = made
        self.decided = decided
        verdict = String(words[2])
    }
}

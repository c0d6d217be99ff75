import Cordon
import CordonIdentity
import Foundation

/// What an account's files cost when there are many: `AppProtection` with 100,000 files against one with 1,000, in the
/// processor's time of the same run (performance goal P15).
struct Files {
    private static let few = 1000
    private static let many = 100_000
    /// Calls in one measurement.
    private static let batch = 200

    private let protection: AppProtection
    private let account: AccountID
    private let count: Int

    /// An enrolled account with that many files of a few bytes.
    private init(_ count: Int, in folder: URL) async throws {
        let service = try InProcessService(rootIn: folder)
        protection = try await AppProtection(StartBenchmark.configuration(in: folder, over: service))
        guard await protection.enroll(service.account) == .newPolicies else { throw CocoaError(.fileWriteUnknown) }
        account = service.account.id
        self.count = count
        for number in 0..<count { try await write("file \(number)") }
    }

    /// Measures both in turn.
    static func measure(rounds: Int) async throws {
        let memory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let home = URL(filePath: memory).appending(path: "cordon-files-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        let small = try await Files(few, in: home.appending(path: "few"))
        let large = try await Files(many, in: home.appending(path: "many"))
        var ratios: [String: [Double]] = [:]
        // The first round warms both.
        for round in 0...rounds {
            let parts: [(String, (Files) async throws -> Double)] = [
                ("read", { try await $0.reading(round) }), ("write", { try await $0.writing(round) }),
                ("new file", { try await $0.making(round) }), ("list, for each name", { try await $0.listing() }),
            ]
            for (name, part) in parts {
                let (limit, mine) = (try await part(small), try await part(large))
                if round > 0 { ratios[name, default: []].append(mine / limit) }
            }
        }
        for (name, found) in ratios.sorted(by: { $0.key < $1.key }) {
            let most = name.hasPrefix("list") ? 1.5 : 1.2
            say("P15 \(name), with \(many) files, times with \(few)", found, atMost: most)
        }
    }

    private func write(_ name: String) async throws {
        try await protection.files.write(Data(name.utf8), as: name, of: account)
    }

    /// A file of this account, another one at each call and round.
    private func name(_ call: Int, _ round: Int) -> String { "file \((call * 7919 + round * 104_729) % count)" }

    private func reading(_ round: Int) async throws -> Double {
        try await seconds {
            for call in 0..<Self.batch {
                let name = name(call, round)
                guard try await protection.files.read(name, of: account) == Data(name.utf8) else {
                    throw CocoaError(.fileReadCorruptFile)
                }
            }
        }
    }

    private func writing(_ round: Int) async throws -> Double {
        try await seconds { for call in 0..<Self.batch { try await write(name(call, round)) } }
    }

    /// Makes files, and removes them again unmeasured.
    private func making(_ round: Int) async throws -> Double {
        let taken = try await seconds { for call in 0..<Self.batch { try await write("new \(call)") } }
        for call in 0..<Self.batch { try await protection.files.remove("new \(call)", of: account) }
        return taken
    }

    private func listing() async throws -> Double {
        let times = max(1, 20_000 / count)
        let taken = try await seconds {
            for _ in 0..<times {
                guard try await protection.files.names(of: account).count == count else {
                    throw CocoaError(.fileReadCorruptFile)
                }
            }
        }
        return taken / Double(times * count)
    }

    private func seconds(_ work: () async throws -> Void) async rethrows -> Double {
        let start = Child.ownTime
        try await work()
        return Child.ownTime - start
    }

    private static func say(_ what: String, _ ratios: [Double], atMost most: Double) {
        let sorted = ratios.sorted()
        let median = sorted[sorted.count / 2]
        let rounded = { (number: Double) in (number * 1000).rounded() / 1000 }
        print(
            "{\"what\": \"\(what)\", \"ratio\": \(rounded(median)), \"atMost\": \(most), \"met\": \(median <= most), \"lowest\": \(rounded(sorted[0])), \"highest\": \(rounded(sorted[sorted.count - 1]))}"
        )
    }
}

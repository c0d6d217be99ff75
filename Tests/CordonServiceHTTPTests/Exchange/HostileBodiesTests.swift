import CordonGraph
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// Bodies that no client sends (R4); `CORDON_DEEP=1` runs a million.
@Suite struct HostileBodiesTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Vectors/bodies")
    private static let seeds: [(name: String, bytes: Data)] =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted().compactMap { name in
            (try? Data(contentsOf: folder.appending(path: name))).map { (name, $0) }
        }

    /// What replaces a value, because it is where readers go wrong.
    private static let values = [
        "null", "true", "-1", "0", "1e400", "9223372036854775807", "18446744073709551616", "1.50", "\"\"", "[]", "{}",
        "\"\\ud800\"", "\"P1Y2M3DT4H5M6.7S\"", "\"2027-01-15T08:00:00.5Z\"", "\"0001-01-01T00:00:00Z\"",
    ]

    @Test(arguments: [
        ("registration", "RegistrationRequest"), ("check-in", "CheckInRequest"),
        ("acknowledgement", "Acknowledgement"), ("telemetry", "TelemetryBatch"), ("settings", "ServiceSettings"),
        ("protection", "iosManagedAppProtection"), ("configuration", "targetedManagedAppConfiguration"),
        ("assign", "assignments"), ("target-apps", "apps"), ("filter", "filter"), ("person", "user"),
        ("group", "group"), ("patch", "patch"),
    ])
    func `an undamaged body is read as what it is`(_ name: String, _ kind: String) throws {
        let seed = try #require(Self.seeds.first { $0.name == name + ".json" })
        let outcome = RequestBodyParsing.read(seed.bytes)
        #expect(outcome.fault == nil && outcome.messages.union(outcome.documents).contains(kind), "\(outcome)")
    }

    @Test(.seeded(as: 4)) func `a damaged body is refused, or read as something that reads back the same`() throws {
        let run = DeepRun(plain: 3_000, deep: 1_000_000)
        var dice = SeededGenerator()
        var (rounds, read, refused) = (0, 0, 0)
        for round in run {
            rounds = round
            var bytes = try #require(Self.seeds.randomElement(using: &dice)).bytes
            for _ in 0..<Int.random(in: 1...3, using: &dice) {
                guard !bytes.isEmpty else { break }
                let place = Int.random(in: 0..<bytes.count, using: &dice)
                switch Int.random(in: 0..<6, using: &dice) {
                case 0: bytes[place] = .random(in: 0x20...0x7E, using: &dice)
                case 1: bytes[place] = .random(in: .min ... .max, using: &dice)
                case 2: bytes.remove(at: place)
                case 3: bytes = Data(bytes.prefix(place))
                default: Self.replaceValue(after: place, in: &bytes, using: &dice)
                }
            }
            let outcome = RequestBodyParsing.read(bytes)
            #expect(outcome.fault == nil, "\(outcome.fault ?? ""): \(String(decoding: bytes, as: UTF8.self))")
            if outcome.messages.isEmpty && outcome.documents.isEmpty { refused += 1 } else { read += 1 }
        }
        // Damage of every depth came up.
        #expect(read > rounds / 20 && refused > rounds / 20, "\(read) read, \(refused) refused")
        run.finish("damaged bodies")
    }

    /// Puts another value behind the next colon.
    private static func replaceValue(after place: Int, in bytes: inout Data, using dice: inout SeededGenerator) {
        guard let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")) else { return }
        let end = bytes[colon...].firstIndex { [UInt8(ascii: ","), UInt8(ascii: "}")].contains($0) } ?? bytes.endIndex
        let value = values.randomElement(using: &dice) ?? "null"
        bytes.replaceSubrange((colon + 1)..<end, with: Data(value.utf8))
    }
}

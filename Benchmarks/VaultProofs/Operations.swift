import CordonIdentity
import CordonVault
import Foundation

/// Random operations on a sealed file and on an array of bytes: every answer is the same (R12).
struct Operations {
    let count: Int
    let seconds: Int
    let seed: UInt64

    func run() async throws {
        let folder = try scratch()
        defer { try? FileManager.default.removeItem(at: folder) }
        let vault = try vault(in: folder)
        let account = AccountID("ada@example.test")
        _ = try await vault.createAccountKey(for: account)
        let place = folder.appendingPathComponent("documents/model")
        let end = ContinuousClock.now + .seconds(seconds)
        var random = Random(seed)
        var model: [UInt8] = []
        var file = try await vault.create(place, for: account, chunkSize: 4096)
        var done = 0
        while done < count, done % 1000 != 0 || ContinuousClock.now < end {
            done += 1
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<40:
                let offset = Int.random(in: 0...min(model.count + 3000, 90_000), using: &random)
                let bytes = [UInt8](
                    repeating: UInt8(truncatingIfNeeded: done), count: .random(in: 1...9000, using: &random))
                model += [UInt8](repeating: 0, count: max(0, offset + bytes.count - model.count))
                model.replaceSubrange(offset..<offset + bytes.count, with: bytes)
                try bytes.withUnsafeBytes { try file.write($0, at: Int64(offset)) }
            case 40..<48:
                let size = Int.random(in: 0...90_000, using: &random)
                if size < model.count {
                    model.removeLast(model.count - size)
                } else {
                    model += [UInt8](repeating: 0, count: size - model.count)
                }
                try file.truncate(to: Int64(size))
            case 48..<54: try file.sync()
            case 54:
                try file.close()
                file = try await vault.open(place)
            default:
                let offset = Int.random(in: 0...max(1, model.count), using: &random)
                let wanted = Int.random(in: 0...12_000, using: &random)
                var read = [UInt8](repeating: 0xEE, count: wanted)
                let got = try read.withUnsafeMutableBytes { try file.read(into: $0, at: Int64(offset)) }
                let expected = offset < model.count ? model[offset..<min(model.count, offset + wanted)] : []
                guard read[..<got].elementsEqual(expected) else {
                    fail("operations: seed \(seed), operation \(done): other bytes")
                }
            }
            guard try file.size() == Int64(model.count) else {
                fail("operations: seed \(seed), operation \(done): other size")
            }
        }
        try file.close()
        say(
            "proof: \(done == count ? "\(done)" : "\(done) of \(count)") operations beside an array of bytes, seed \(seed)"
        )
    }
}

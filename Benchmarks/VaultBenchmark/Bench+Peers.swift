import CordonVault
import Foundation
import NullDevice

extension Bench {
    /// Sealing a large file against other programs that encrypt one (P2), all of them writing to the null device, so that the cipher counts
    /// and not the making of pages; each is left out where it is missing.
    func peers() async throws {
        let from = path("plain").path
        let identity = path("identity").path
        _ = Meter.seconds(of: "age-keygen", ["-o", identity])
        let recipient = (try? String(contentsOfFile: identity, encoding: .utf8))?
            .split(separator: "\n").first { $0.hasPrefix("# public key: ") }?.dropFirst(14)
        let key = String(repeating: "0123456789abcdef", count: 4)
        let vector = String(repeating: "0", count: 32)
        var ratios: [String: [Double]] = [:]
        for _ in 0..<max(3, rounds) {
            let read = try Meter.seconds { try readPlain("plain") }
            guard write_to_null_device(1) == 1 else { return }
            let seal = try await Meter.seconds { try await sealFile("plain", "discarded", 65536) }
            _ = write_to_null_device(0)
            ratios["read", default: []].append(read / seal)
            if let recipient, let theirs = Meter.seconds(of: "age", ["-r", String(recipient), from]) {
                ratios["age", default: []].append(theirs / seal)
            }
            let options = ["enc", "-aes-256-ctr", "-K", key, "-iv", vector, "-in", from]
            if let theirs = Meter.seconds(of: "openssl", options) {
                ratios["openssl", default: []].append(theirs / seal)
            }
        }
        if let found = ratios["read"] { Meter.say("P2 seal to the null device, of a read's rate", found) }
        if let found = ratios["age"] { Meter.say("P2 seal to the null device, times age's rate", found, atLeast: 4) }
        if let found = ratios["openssl"] {
            Meter.say("P2 seal to the null device, times openssl enc's rate (no authentication)", found, atLeast: 2.5)
        }
    }

    /// The slowest of many wipes, until the key is gone, against synced writes of 64 bytes to the same disk (P5).
    func wipeTail() async throws {
        let disk = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-bench-" + UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: disk) }
        let vault = try Vault(directory: disk.appendingPathComponent("vault"), keyStore: InMemoryKeyStore())
        let small = open(disk.appendingPathComponent("small").path, O_RDWR | O_CREAT, 0o600)
        defer { close(small) }
        var writes: [Double] = []
        var wipes: [Double] = []
        let start = Moment()
        let gone = Moment()
        for _ in 0..<200 {
            writes.append(
                Meter.elapsed {
                    _ = withUnsafeBytes(of: SIMD64<UInt8>(repeating: 7)) { pwrite(small, $0.baseAddress, 64, 0) }
                    fdatasync(small)
                })
            try await vault.createAccountKey(for: account)
            _ = try await vault.wipe(account) { step in
                if step.kind == .begun { start.set(DispatchTime.now().uptimeNanoseconds) }
                if step.kind == .keyDestroyed { gone.set(DispatchTime.now().uptimeNanoseconds) }
            }
            wipes.append(Double(gone.value - start.value) / 1e9)
        }
        Meter.say(
            "P5 key gone at the 99th percentile, times a synced write there",
            [wipes.sorted()[197] / writes.sorted()[197]], atMost: 3)
    }
}

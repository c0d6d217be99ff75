import CordonVault
import Foundation

extension Bench {
    /// Sealing a large file against other programs that encrypt one (P2); each is left out where it is missing.
    func peers() async throws {
        let from = path("plain").path
        let to = path("peer").path
        let identity = path("identity").path
        _ = Meter.seconds(of: "age-keygen", ["-o", identity])
        let recipient = (try? String(contentsOfFile: identity, encoding: .utf8))?
            .split(separator: "\n").first { $0.hasPrefix("# public key: ") }?.dropFirst(14)
        var age: [Double] = []
        var added: [Double] = []
        var openssl: [Double] = []
        for _ in 0..<min(3, rounds) {
            let copy = try Meter.seconds { try copyPlain("plain", "copied") }
            let seal = try await Meter.seconds { try await sealFile("plain", "sealed", 65536) }
            if let recipient, let theirs = Meter.seconds(of: "age", ["-r", String(recipient), "-o", to, from]) {
                age.append(theirs / seal)
                added.append((theirs - copy) / max(seal - copy, seal / 100))
            }
            let key = String(repeating: "0123456789abcdef", count: 4)
            let vector = String(repeating: "0", count: 32)
            let options = ["enc", "-aes-256-ctr", "-K", key, "-iv", vector, "-in", from, "-out", to]
            if let theirs = Meter.seconds(of: "openssl", options) { openssl.append(theirs / seal) }
            for name in [to] { try? FileManager.default.removeItem(atPath: name) }
        }
        if !age.isEmpty { Meter.say("P2 seal, times age's rate", age, atLeast: 4) }
        // Where fresh memory is expensive, writing hides the cipher; this leaves the writing out.
        if !added.isEmpty { Meter.say("P2 CPU that age adds to a copy, times what the vault adds", added, atLeast: 4) }
        if !openssl.isEmpty {
            Meter.say("P2 seal, times openssl enc's rate (no authentication)", openssl, atLeast: 2.5)
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

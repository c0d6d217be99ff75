import CordonAEADShim
import Foundation

/// What the vault's cipher costs over the bare AEAD of the same process, chunk by chunk (performance goal P1):
/// `ChunkBenchmark [ROUNDS]`; the exit status is 1 when a goal is missed.
///
/// CPU time, variants in turn, medians; one JSON object a line. The bare loop is C and does nothing but call the cipher;
/// the vault's draws a fresh nonce for each chunk as well. `openssl speed` is another process, at its own pace.
@main
struct ChunkBenchmark {
    static func main() {
        let rounds = CommandLine.arguments.dropFirst().compactMap { Int($0) }.first ?? 11
        let kept = [4096, 16384, 65536].map { Chunks(size: $0).measure(rounds: rounds) }
        if kept.contains(false) { exit(1) }
    }
}

/// Chunks of one size under one key.
struct Chunks {
    let size: Int
    /// As many as take some tens of milliseconds.
    private var times: Int { (128 << 20) / size }

    /// Measures and prints; whether the goals are met, or there is nothing to measure.
    func measure(rounds: Int) -> Bool {
        let key = [UInt8](0..<32)
        guard let cipher = key.withUnsafeBytes({ CipherBackend.preferred.cipher(key: $0) }),
            let bare = key.withUnsafeBufferPointer({ cordon_aead_new($0.baseAddress) })
        else {
            print("{\"what\": \"P1\", \"missing\": \"the direct cipher\"}")
            return true
        }
        defer { cordon_aead_free(bare) }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 3 * size, alignment: 4096)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 7)
        var seals: [Double] = []
        var opens: [Double] = []
        var rate = 0.0
        for _ in 0..<rounds {
            let limit = cpuSeconds { _ = bare_seal(bare, bytes(memory, 0), size, Int32(times)) }
            seals.append(limit / cpuSeconds { seal(cipher, memory) })
            rate = max(rate, Double(times * size) / limit)
            var tag = [UInt8](repeating: 0, count: 16)
            let nonce = [UInt8](repeating: 0, count: 12)
            let context = [UInt8](repeating: 0, count: 32)
            _ = cordon_aead_seal(
                bare, bytes(memory, 1), &tag, nonce, bytes(memory, 0), size, context, context.count)
            let opening = cpuSeconds {
                _ = bare_open(bare, bytes(memory, 2), bytes(memory, 1), tag, size, Int32(times))
            }
            opens.append(opening / cpuSeconds { open(cipher, memory, nonce, tag, context) })
        }
        let least: Double? = size == 16384 ? nil : 0.95
        let isSealing = say("P1 seal a chunk of \(size), of the bare AEAD's rate", seals, least)
        let isOpening = say("P1 open a chunk of \(size), of the bare AEAD's rate", opens, least)
        if let theirs = opensslRate() {
            _ = say("P1 bare AEAD in chunks of \(size), times openssl speed's rate", [rate / theirs], nil)
        }
        return isSealing && isOpening
    }

    private func bytes(_ memory: UnsafeMutableRawBufferPointer, _ part: Int) -> UnsafeMutablePointer<UInt8>? {
        memory.baseAddress?.advanced(by: part * size).assumingMemoryBound(to: UInt8.self)
    }

    /// As the vault does it: a fresh nonce, a call through the protocol, the context beside it.
    private func seal(_ cipher: any ChunkCipher, _ memory: UnsafeMutableRawBufferPointer) {
        var nonces = NonceSource()
        let plain = UnsafeRawBufferPointer(rebasing: memory[..<size])
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { small in
            small.initializeMemory(as: UInt8.self, repeating: 0)
            guard let base = small.baseAddress, let output = memory.baseAddress else { return }
            let context = UnsafeRawBufferPointer(rebasing: small[32..<64])
            for _ in 0..<times {
                let (first, last) = nonces.make()
                base.storeBytes(of: first, as: UInt32.self)
                base.storeBytes(of: last, toByteOffset: 4, as: UInt64.self)
                guard cipher.seal(plain, into: output, nonce: base, tag: base + 16, context: context) else { return }
            }
        }
    }

    private func open(
        _ cipher: any ChunkCipher, _ memory: UnsafeMutableRawBufferPointer, _ nonce: [UInt8], _ tag: [UInt8],
        _ context: [UInt8]
    ) {
        let sealed = UnsafeRawBufferPointer(rebasing: memory[size..<2 * size])
        nonce.withUnsafeBytes { nonce in
            tag.withUnsafeBytes { tag in
                context.withUnsafeBytes { context in
                    guard let nonce = nonce.baseAddress, let tag = tag.baseAddress, let base = memory.baseAddress
                    else { return }
                    for _ in 0..<times {
                        guard
                            cipher.open(
                                sealed, into: base + 2 * size, nonce: nonce, tag: tag, context: context)
                        else { return }
                    }
                }
            }
        }
    }

    /// Bytes a second of AES-256-GCM by the system's OpenSSL; nil where it is missing.
    private func opensslRate() -> Double? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "openssl", "speed", "-mr", "-seconds", "1", "-bytes", String(size), "-evp", "aes-256-gcm",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let line = text.split(separator: "\n").last { $0.hasPrefix("+F:") }
        return line?.split(separator: ":").last.flatMap { Double($0) }
    }

    /// Prints a ratio's median; whether the goal is met.
    private func say(_ what: String, _ ratios: [Double], _ least: Double?) -> Bool {
        let sorted = ratios.sorted()
        let median = sorted[sorted.count / 2]
        let goal = least.map { ", \"atLeast\": \($0), \"met\": \(median >= $0)" } ?? ""
        let numbers = [median, sorted[0], sorted[sorted.count - 1]].map { String(format: "%.3f", $0) }
        print(
            "{\"what\": \"\(what)\", \"ratio\": \(numbers[0])\(goal), \"lowest\": \(numbers[1]), \"highest\": \(numbers[2])}"
        )
        return median >= least ?? median
    }
}

private func cpuSeconds(_ work: () -> Void) -> Double {
    let start = clock()
    work()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC)
}

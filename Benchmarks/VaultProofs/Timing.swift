import CordonAEADShim
import CordonSignIn
import Crypto
import Foundation

/// Whether comparisons of secrets take longer the later the first difference comes: Welch's t over two classes in random order, as
/// dudect does, also over the faster part of the samples alone, since interruptions hide a difference. Below 4.5 there is none to be seen.
///
/// A comparison that stops at the first difference is the control, and must be found. Only a release build says anything: without
/// optimisation the compiler keeps sums in memory, where the processor may take different times for different values.
struct Timing {
    let samples: Int
    let seed: UInt64

    func run() {
        let secret = [UInt8]((0..<32).map { _ in .random(in: 1 ... .max) })
        let control = greatest({ Self.differing($0, from: secret) }) { stopsEarly($0, secret) }
        guard control >= 4.5 else { fail("timing: the control was not found, t \(control)") }
        var told = ["control \(shown(control))"]
        var worst = 0.0
        for (name, t) in [
            ("tags of the cipher", tags()), ("texts of a sign-in", texts(secret)),
            ("codes of a PIN", codes(secret)), ("keys and digests", digests(secret)),
        ] {
            told.append("\(name) \(shown(t))")
            worst = max(worst, t)
        }
        say("proof: \(samples) samples each, greatest |t|: \(told.joined(separator: ", ")), seed \(seed)")
        if worst >= 4.5 { fail("timing: a comparison tells where the difference is") }
    }

    /// A copy that differs at the first byte or at the last. Made anew for each sample, so that both kinds lie in the same memory.
    private static func differing(_ atEnd: Bool, from bytes: [UInt8]) -> [UInt8] {
        var copy = bytes
        copy[atEnd ? bytes.count - 1 : 0] ^= 1
        return copy
    }

    private func shown(_ t: Double) -> String { String(format: "%.1f", t) }

    private func tags() -> Double {
        let (key, nonce) = ([UInt8](repeating: 7, count: 32), [UInt8](repeating: 1, count: 12))
        guard let aead = cordon_aead_new(key) else { fail("timing: the direct cipher is missing") }
        defer { cordon_aead_free(aead) }
        var (message, tag) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 16))
        _ = cordon_aead_seal(aead, &message, &tag, nonce, [UInt8](repeating: 9, count: 16), 16, nil, 0)
        let right = tag
        var opened = [UInt8](repeating: 0, count: 16)
        return greatest({ Self.differing($0, from: right) }) {
            cordon_aead_open(aead, &opened, $0, nonce, message, 16, nil, 0) == 1
        }
    }

    private func texts(_ secret: [UInt8]) -> Double {
        let told = { (bytes: [UInt8]) in bytes.map { String(format: "%02x", $0) }.joined() }
        let right = told(secret)
        let digits = Array(right.utf8)
        return greatest({ String(decoding: Self.differing($0, from: digits), as: UTF8.self) }) {
            ConstantTime.equal($0, right)
        }
    }

    private func codes(_ secret: [UInt8]) -> Double {
        let key = SymmetricKey(data: secret)
        let right = Array(HMAC<SHA256>.authenticationCode(for: secret, using: key))
        return greatest({ Self.differing($0, from: right) }) {
            HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: secret, using: key)
        }
    }

    private func digests(_ secret: [UInt8]) -> Double {
        let right = SymmetricKey(data: secret)
        return greatest({ SymmetricKey(data: Self.differing($0, from: secret)) }) { $0 == right }
    }

    @inline(never)
    private func stopsEarly(_ one: [UInt8], _ two: [UInt8]) -> Bool {
        for place in one.indices where one[place] != two[place] { return false }
        return true
    }

    /// The greatest |t| over all samples and over those below some percentiles.
    private func greatest<Candidate>(_ make: (Bool) -> Candidate, _ compare: (Candidate) -> Bool) -> Double {
        var random = Random(seed)
        var times: [[Double]] = [[], []]
        var sink = false
        for _ in 0..<samples {
            let atEnd = Bool.random(using: &random)
            let candidate = make(atEnd)
            // Once before, so that what was just written is not still on its way to memory.
            sink = compare(candidate) != sink
            // Several comparisons a sample, since one is as short as a look at the clock.
            let start = clock()
            for _ in 0..<8 { sink = compare(candidate) != sink }
            times[atEnd ? 1 : 0].append(Double(clock() - start))
        }
        withExtendedLifetime(sink) {}
        let all = (times[0] + times[1]).sorted()
        // The tails are the machine's; of what is left every tenth part more.
        return [0.5, 0.6, 0.7, 0.8, 0.9, 0.95].map { part in
            let limit = all[Int(Double(all.count - 1) * part)]
            return abs(welch(times[0].filter { $0 <= limit }, times[1].filter { $0 <= limit }))
        }.max() ?? .infinity
    }

    private func clock() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    private func welch(_ one: [Double], _ two: [Double]) -> Double {
        func moments(_ values: [Double]) -> (mean: Double, variance: Double) {
            let mean = values.reduce(0, +) / Double(values.count)
            return (mean, values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count - 1))
        }
        guard one.count > 100, two.count > 100 else { return .infinity }
        let (a, b) = (moments(one), moments(two))
        let spread = (a.variance / Double(one.count) + b.variance / Double(two.count)).squareRoot()
        return spread == 0 ? (a.mean == b.mean ? 0 : .infinity) : (a.mean - b.mean) / spread
    }
}

import Foundation
import Testing

@testable import CordonServiceHTTP

@Suite struct ReplayCacheTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func `a proof is fresh once, for each key apart`() {
        let cache = ReplayCache(span: 120, capacity: 1_000, now: start)
        #expect(cache.remember("1", key: "a", at: start) == .fresh)
        #expect(cache.remember("1", key: "a", at: start) == .replayed)
        #expect(cache.remember("1", key: "b", at: start) == .fresh)
    }

    @Test(arguments: [0.0, 60, 119])
    func `a proof is remembered for the whole span wherever in it it came`(_ offset: TimeInterval) {
        let cache = ReplayCache(span: 120, capacity: 1_000, now: start)
        #expect(cache.remember("1", key: "a", at: start + offset) == .fresh)
        for step in stride(from: 10.0, through: 119, by: 10) {
            _ = cache.remember("other-\(step)", key: "a", at: start + offset + step)
            #expect(cache.remember("1", key: "a", at: start + offset + step) == .replayed)
        }
    }

    @Test func `a full cache refuses rather than forgets, and empties with time`() {
        let cache = ReplayCache(span: 120, capacity: 3, now: start)
        for id in 0..<3 { #expect(cache.remember("\(id)", key: "a", at: start) == .fresh) }
        #expect(cache.remember("3", key: "a", at: start) == .full)
        #expect(cache.remember("0", key: "a", at: start) == .replayed)
        #expect(cache.remember("3", key: "a", at: start + 241) == .fresh)
    }

    @Test func `a clock that is put back neither forgets a proof nor keeps the cache full`() {
        let cache = ReplayCache(span: 120, capacity: 4, now: start)
        let back = start - 3_600
        for id in 0..<4 { #expect(cache.remember("\(id)", key: "a", at: start) == .fresh) }
        #expect(cache.remember("0", key: "a", at: back) == .replayed)
        #expect(cache.remember("4", key: "a", at: back) == .full)
        #expect(cache.remember("0", key: "a", at: back + 119) == .replayed)
        #expect(cache.remember("4", key: "a", at: back + 121) == .fresh)
    }

    @Test func `a key has a share, which leaves room for others and comes back with time`() {
        let cache = ReplayCache(span: 120, capacity: 8, now: start)
        let outcomes = (0..<6).map { cache.remember("\($0)", key: "a", share: 3, at: start) }
        #expect(outcomes == [.fresh, .fresh, .fresh, .full, .full, .full])
        #expect(cache.remember("0", key: "a", share: 3, at: start) == .replayed)
        #expect(cache.remember("0", key: "b", share: 3, at: start) == .fresh)
        // One span later the proofs are still remembered, two later they are not.
        #expect(cache.remember("6", key: "a", share: 3, at: start + 121) == .full)
        #expect(cache.remember("6", key: "a", share: 3, at: start + 242) == .fresh)
    }
}

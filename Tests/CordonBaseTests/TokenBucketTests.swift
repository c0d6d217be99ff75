import CordonBase
import Testing

@Suite struct TokenBucketTests {
    @Test func `a burst passes, then so many a second`() {
        var bucket = TokenBucket(burst: 3, perSecond: 2, at: 100)
        for _ in 0..<3 { #expect(bucket.take(at: 100) == nil) }
        #expect(bucket.take(at: 100) == 0.5)
        #expect(bucket.take(at: 100.25) == 0.25)
        #expect(bucket.take(at: 100.5) == nil)
        #expect(bucket.take(at: 100.5) == 0.5)
    }

    @Test func `what is refused costs nothing, and what is spent on credit is paid back first`() {
        var bucket = TokenBucket(burst: 1, perSecond: 1, at: 0)
        #expect(bucket.spend(at: 0) == 0)
        #expect(bucket.spend(at: 0) == 1)
        #expect(bucket.spend(at: 0) == 2)
        for _ in 0..<10 { #expect(bucket.take(at: 0) == 3) }
        #expect(bucket.take(at: 3) == nil)
    }

    @Test func `it is full again once as much time has passed as it gave away`() {
        var bucket = TokenBucket(burst: 3, perSecond: 2, at: 100)
        #expect(bucket.isFull(at: 100))
        for _ in 0..<2 { #expect(bucket.take(at: 100) == nil) }
        #expect(!bucket.isFull(at: 100.75) && !bucket.isFull(at: 99))
        #expect(bucket.isFull(at: 101))
    }

    @Test func `no pause gives more than the burst, and a clock set back gives nothing`() {
        var bucket = TokenBucket(burst: 2, perSecond: 1, at: 0)
        for _ in 0..<2 { #expect(bucket.take(at: 1e9) == nil) }
        #expect(bucket.take(at: 1e9) == 1)
        #expect(bucket.take(at: 0) == 1)
        #expect(bucket.take(at: 1) == nil)
    }
}

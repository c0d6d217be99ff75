import CordonIdentity
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonServiceHTTP

/// The discovery document of an outside provider, as the routes for MSAL hand it on.
@Suite struct DiscoveryCacheTests {
    /// A provider that answers when it is let.
    private actor SlowProvider: IssuerDocuments {
        private(set) var asked = 0
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var isOpen = false

        func keySet(of issuer: String) async throws(TokenRefusal) -> Data {
            throw TokenRefusal(.issuerUnavailable, "not asked for here")
        }

        func discovery(of issuer: String) async throws(TokenRefusal) -> Data {
            asked += 1
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            return Data(#"{"issuer": "x"}"#.utf8)
        }

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }
    }

    @Test func `a request that comes while the first fetch is under way gets its answer`() async throws {
        let provider = SlowProvider()
        let clock = SettableClock()
        let cache = DiscoveryCache(documents: provider, now: { clock.now })
        async let first = cache.document(of: "x")
        try await until { await provider.asked != 0 }
        async let second = cache.document(of: "x")
        for _ in 0..<100 { await Task.yield() }
        await provider.open()
        #expect(try await first["issuer"] == "x")
        #expect(try await second["issuer"] == "x")
        #expect(await provider.asked == 1)
    }

    @Test func `the document is fetched again after its time, also by a clock that was set back`() async throws {
        let provider = SlowProvider()
        await provider.open()
        let clock = SettableClock()
        let cache = DiscoveryCache(documents: provider, now: { clock.now })
        for (moved, times) in [(0, 1), (10, 1), (-3_600, 2), (DiscoveryCache.lifetime, 3)] as [(TimeInterval, Int)] {
            clock.advance(by: moved)
            _ = try await cache.document(of: "x")
            #expect(await provider.asked == times)
        }
    }
}

import AsyncHTTPClient
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Testing

@testable import CordonServiceHTTP

/// The live event stream over a real socket: told at once, resumed after a pause, ended when the server drains.
@Suite struct EventStreamServerTests {
    @Test func `a connected app hears of a change, resumes what it missed, and is let go by a draining server`()
        async throws
    {
        let fixture = try await LiveService()
        let policy = try await fixture.publishPolicy()
        let (ready, source) = AsyncStream.makeStream(of: String.self)
        let server = fixture.server
        async let serving: Void = server.run { source.yield($0.base.absoluteString) }
        let base = try #require(await ready.first { _ in true })
        let app = LiveApp(base: base, issuer: fixture.issuer)
        let registration = try await app.register()

        let stream = try await app.follow(registration)
        var events = LiveEvents(stream.body)
        try await events.begin()
        try await fixture.change(policy, "printBlocked")
        let first = try #require(try await events.next())
        #expect(first.event == "policyChanged")

        try await fixture.change(policy, "contactSyncBlocked")
        let second = try #require(try await events.next())
        let resumed = try await app.follow(registration, after: first.lastEventID)
        var missed = LiveEvents(resumed.body)
        #expect(try await missed.next()?.lastEventID == second.lastEventID)

        let strange = try await app.follow(registration, after: "zzz")
        var all = LiveEvents(strange.body)
        #expect(try await all.next()?.lastEventID == second.lastEventID, "an id that is none hides nothing")

        await server.shutDown()
        #expect(try await events.next() == nil)
        #expect(try await missed.next() == nil)
        try await serving
    }
}

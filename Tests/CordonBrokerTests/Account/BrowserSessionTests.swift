import CordonBase
import CordonSignIn
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// The visit to the provider's own sign-out page, through the broker and the app's browser (SI-051, SI-054, SI-178).
@Suite struct BrowserSessionTests {
    /// Signs out with the visit, which ends as the given closure says: an address, nil for a closed page.
    private func signOut(
        _ end: @escaping @Sendable (URL, FakeIdentityProvider) async -> URL?
    ) async throws -> (report: DeviceSignOutReport, stand: BrokerStand) {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let seen = notes.pages.count
        let request = Locked<UInt32>(0)
        let waiting = Task { await notes.ask(.accountSignOut) { $0.endsBrowserSession = true } }
        try await until { notes.pages.count != seen }
        request.withLock { $0 = notes.lastAsked }
        #expect(try await notes.current().current == nil, "signed out before the page is shown")
        let page = try #require(notes.pages.last?.page)
        let url = await end(page, stand.provider)
        _ = await notes.ask(url == nil ? .tokenCancel : .tokenReturn) {
            $0.request = request.withLock { $0 }
            $0.url = url?.absoluteString
        }
        return (try #require(await waiting.value.signOut), stand)
    }

    @Test func `the provider's session ends with one visit, and its page knows whose`() async throws {
        let (report, stand) = try await signOut { await $1.visit($0, as: .worker) }
        #expect(report.keyDestroyed && !report.browserSessionMayRemain)
        let visits = await stand.provider.received.filter { $0.path == "/logout" }
        #expect(visits.count == 1 && visits.first?.parameters["id_token_hint"] != nil)
    }

    @Test func `a closed page takes nothing back`() async throws {
        let (report, stand) = try await signOut { _, _ in nil }
        #expect(report.keyDestroyed)
        #expect(await stand.provider.count(of: "/logout") == 0)
    }

    @Test func `an address that another program made ends no session`() async throws {
        let (report, _) = try await signOut { _, _ in URL(string: "cordon.broker://auth?state=another") }
        #expect(report.keyDestroyed && report.browserSessionMayRemain)
    }

    @Test func `without being asked for there is no visit`() async throws {
        let stand = try BrokerStand()
        let broker = try await stand.joinedBroker()
        let notes = try await BrokerApp("notes", at: broker)
        try await notes.signIn(.worker, at: stand.provider)
        let seen = notes.pages.count
        let report = try #require(await notes.ask(.accountSignOut).signOut)
        #expect(report.browserSessionMayRemain && notes.pages.count == seen)
    }
}

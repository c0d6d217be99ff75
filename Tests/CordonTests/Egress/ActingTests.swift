import Cordon
import CordonIdentity
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// Ways out that the system carries out: asked, spent and done by one call.
@Suite struct ActingTests {
    private actor App: ReceivingApp {
        private(set) var items: [SharedItem] = []
        func deliver(_ item: SharedItem) { items.append(item) }
    }

    @Test func `what the rules allow is done once, and what it answers comes back`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        let question = Question.may(.print, of: .managed(device.account.id))
        var count = 0
        let answer = try protection.rules.whenAllowed(question) { () -> Int in
            count += 1
            return 7
        }
        #expect(answer == 7 && count == 1)
        let later = try await protection.rules.whenAllowed(question) { () async throws -> String in
            await Task.yield()
            return "done"
        }
        #expect(later == "done")
    }

    @Test func `what the rules refuse is not begun, and the one error says why`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(true)])
        let question = Question.may(.print, of: .managed(device.account.id))
        var isBegun = false
        do {
            try await protection.rules.whenAllowed(question) { () async throws in isBegun = true }
            Issue.record("it was done")
        } catch let error as ProtectionError {
            #expect(error.code == .denied)
            #expect(error.denial?.reasons.map(\.setting) == ["printBlocked"])
        }
        #expect(throws: ProtectionError.self) { try protection.rules.whenAllowed(question) { isBegun = true } }
        #expect(!isBegun)
    }

    @Test func `what takes no permit is asked about all the same: Siri, widgets, notifications, search`() async throws {
        for blocks in [false, true] {
            let device = try Device()
            let protection = try await device.enrolled(["printBlocked": .bool(blocks)])
            let personal = try protection.rules.whenAllowed(.may(.siriIntent, of: .personal)) { 1 }
            #expect(personal == 1)
            for action in [Action.siriIntent, .appIntent, .showWidget, .notify, .indexSpotlight, .print] {
                let question = Question.may(action, of: .managed(device.account.id))
                let isDone = (try? protection.rules.whenAllowed(question) { true }) ?? false
                #expect(isDone == protection.rules.verdict(for: question).permits, "\(action)")
            }
        }
    }

    @Test func `what the act itself throws comes through as it is`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([:])
        #expect(throws: CancellationError.self) {
            try protection.rules.whenAllowed(.may(.print, of: .personal)) { throw CancellationError() }
        }
    }

    @Test func `of the things of several owners only those that may go are left, in their order`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(true)])
        let work = Identity.managed(device.account.id)
        let notes = [("a", Identity.personal), ("b", work), ("c", .personal)]
        let left = protection.rules.only(notes, for: .print) { $0.1 }
        #expect(left.map(\.0) == ["a", "c"])
    }

    @Test func `personal data goes to another app by one call, and organisation data by none without a group`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled(["allowedOutboundDataTransferDestinations": .string("none")])
        let app = App()
        try await protection.outlets.openIn(Data("x".utf8), named: "a.txt", of: .personal, by: app)
        #expect(await app.items.map(\.name) == ["a.txt"])
        do {
            try await protection.outlets.openIn(
                Data("x".utf8), named: "b.txt", of: .managed(device.account.id), by: app)
            Issue.record("it was handed over")
        } catch { #expect(error.code == .denied) }
        #expect(await app.items.count == 1)
    }
}

import CordonTestSupport
import Foundation
import Testing

@testable import CordonServiceHTTP

/// What a receiver of alerts is told of conditions, and how often.
@Suite struct ConditionNoticesTests {
    private let clock = SettableClock()
    private let disk = ServiceCondition(.disk, "the disk is almost full")

    /// Looks once, has the receiver take everything, and says what that was.
    private func tell(_ notices: inout ConditionNotices, _ conditions: [ServiceCondition]) -> [String] {
        let due = notices.due(conditions, at: clock.now)
        for notice in due { notices.note(notice, delivered: true, at: clock.now) }
        return due.map { "\($0.condition.name) \($0.stage.rawValue)" }
    }

    @Test func `a condition is told when it begins, once a day while it lasts, and when it is over`() {
        var notices = ConditionNotices()
        #expect(tell(&notices, []) == [])
        #expect(tell(&notices, [disk]) == ["disk.low began"])
        clock.advance(by: 30)
        #expect(tell(&notices, [disk]) == [])
        clock.advance(by: ConditionNotices.interval)
        #expect(tell(&notices, [disk]) == ["disk.low lasts"])
        clock.advance(by: 30)
        #expect(tell(&notices, []) == [], "it may come back at once")
        clock.advance(by: ConditionNotices.pause)
        #expect(tell(&notices, []) == ["disk.low ended"])
        clock.advance(by: ConditionNotices.pause)
        #expect(tell(&notices, []) == [])
        #expect(tell(&notices, [disk]) == ["disk.low began"])
    }

    @Test func `one that comes and goes is told once`() {
        var notices = ConditionNotices()
        #expect(tell(&notices, [disk]) == ["disk.low began"])
        for _ in 0..<20 {
            clock.advance(by: ConditionNotices.pause / 2)
            #expect(tell(&notices, []) == [])
            clock.advance(by: 30)
            #expect(tell(&notices, [disk]) == [])
        }
    }

    @Test func `two of a kind are told apart`() {
        var notices = ConditionNotices()
        let both = ["https://b.example", "https://a.example"].map { ServiceCondition(.provider, of: $0, "down") }
        let told = tell(&notices, both)
        #expect(
            told == ["provider.unreachable https://a.example began", "provider.unreachable https://b.example began"])
    }

    @Test func `a clock that was ahead keeps no notice back once it is right`() {
        var notices = ConditionNotices()
        let (now, other) = (clock.now, ServiceCondition(.backup, "the last backup is old"))
        #expect(tell(&notices, [other]) == ["backup.old began"])
        clock.advance(by: 366 * 86_400)
        // Certificates have ended by then, so nothing is delivered.
        for notice in notices.due([disk, other], at: clock.now) {
            notices.note(notice, delivered: false, at: clock.now)
        }
        clock.set(now)
        #expect(tell(&notices, [disk]) == ["backup.old ended", "disk.low began"])
    }

    @Test func `what the receiver did not take is tried again with the same id, later each time`() throws {
        var notices = ConditionNotices()
        let first = try #require(notices.due([disk], at: clock.now).first)
        notices.note(first, delivered: false, at: clock.now)
        #expect(notices.due([disk], at: clock.now) == [])
        var pauses: [Int] = []
        for _ in 0..<10 {
            var pause = 0
            var again: ConditionNotice?
            while again == nil {
                clock.advance(by: 30)
                pause += 30
                again = notices.due([disk], at: clock.now).first
            }
            #expect(again?.id == first.id)
            pauses.append(pause)
            notices.note(try #require(again), delivered: false, at: clock.now)
        }
        #expect(pauses == [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600])
        // It was not told that it began.
        clock.advance(by: 2 * 3_600)
        #expect(notices.due([], at: clock.now) == [])
    }
}

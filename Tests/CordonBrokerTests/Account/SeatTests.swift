import Testing

@testable import CordonBroker

/// What logind says, and whose screen counts (SI-201).
@Suite struct SeatTests {
    private static let changed = "org.freedesktop.DBus.Properties.PropertiesChanged ('org.freedesktop.login1."
    private static let (worker, greeter, other) = (
        "/org/freedesktop/login1/session/_32", "/org/freedesktop/login1/session/c1",
        "/org/freedesktop/login1/session/_37"
    )

    private static func front(_ session: String) -> String {
        "\(SeatFact.seat): \(changed)Seat', {'ActiveSession': <('x', objectpath '\(session)')>, 'IdleHint': <true>}, @as [])"
    }

    private static func hint(_ isLocked: Bool, _ session: String) -> String {
        "\(session): \(changed)Session', {'LockedHint': <\(isLocked)>}, @as [])"
    }

    /// A seat whose worker is at work.
    private func seat() -> Seat {
        var seat = Seat()
        #expect(seat.isLocked, "nothing is known yet")
        #expect(seat.take(.active(session: Self.worker)) == nil && seat.unknownSession == Self.worker)
        #expect(seat.take(.locked(false, session: Self.worker)) == nil)
        #expect(seat.take(.ofUser(true, session: Self.worker)) == .unlocked && seat.unknownSession == nil)
        return seat
    }

    /// What the seat makes of lines, in order; what it asks for is answered so.
    private func events(_ seat: inout Seat, _ lines: [String], isUser: Bool = true) -> [SeatEvent] {
        lines.flatMap { line -> [SeatEvent?] in
            guard let fact = SeatFact(monitorLine: line) else { return [] }
            let first = seat.take(fact)
            guard let session = seat.unknownSession else { return [first] }
            return [
                first, seat.take(.locked(false, session: session)), seat.take(.ofUser(isUser, session: session)),
            ]
        }.compactMap(\.self)
    }

    @Test func `a person who switches to another session leaves a locked screen, until they are back`() {
        var seat = seat()
        #expect(events(&seat, [Self.front(Self.greeter)], isUser: false) == [.locked])
        // The session that asks for a password is in front, active and not locked.
        #expect(events(&seat, [Self.hint(false, Self.greeter), Self.hint(true, Self.worker)]).isEmpty)
        #expect(events(&seat, [Self.front(Self.worker)]).isEmpty, "locked by itself by now")
        #expect(events(&seat, [Self.hint(false, Self.worker)]) == [.unlocked])
        #expect(events(&seat, [Self.front(Self.other)]) == [.locked], "another user's session")
    }

    @Test func `what a session says that is not in front unlocks nothing`() {
        var seat = seat()
        #expect(events(&seat, [Self.hint(true, Self.worker)]) == [.locked])
        #expect(events(&seat, [Self.hint(false, Self.other), Self.hint(false, Self.greeter)]).isEmpty)
        #expect(events(&seat, ["\(Self.worker): org.freedesktop.login1.Session.Unlock ()"]).isEmpty, "only asks for it")
        #expect(seat.isLocked)
        #expect(events(&seat, [Self.hint(false, Self.worker)]) == [.unlocked])
    }

    @Test func `a session that is over is followed no longer, and the next user's is`() {
        var seat = seat()
        let removed =
            "/org/freedesktop/login1: org.freedesktop.login1.Manager.SessionRemoved ('2', objectpath '\(Self.worker)')"
        #expect(events(&seat, [removed]) == [.locked])
        #expect(events(&seat, [Self.front(Self.greeter)], isUser: false).isEmpty)
        #expect(events(&seat, [Self.front(Self.other)]) == [.unlocked])
        #expect(events(&seat, [Self.front("")]) == [.locked], "no session in front")
    }

    @Test(arguments: [
        (front(worker), SeatFact.active(session: worker)), (hint(true, worker), .locked(true, session: worker)),
        (hint(false, worker), .locked(false, session: worker)),
        ("\(worker): \(changed)Session', {'Active': <true>}, @as [])", nil),
        ("\(worker): org.freedesktop.login1.Session.Lock ()", nil),
        (
            "/org/freedesktop/login1/seat/seat1: \(changed)Seat', {'ActiveSession': <('x', objectpath '\(worker)')>}, @as [])",
            nil
        ),
        ("/org/freedesktop/login1: org.freedesktop.login1.Manager.SessionNew ('c3', objectpath '\(worker)')", nil),
        ("/org/other/session/_32: \(changed)Session', {'LockedHint': <false>}, @as [])", nil),
        ("Monitoring signals from all objects owned by org.freedesktop.login1", nil), ("", nil), (":", nil),
    ])
    func `logind's signals are read, and everything else is left alone`(line: String, fact: SeatFact?) {
        #expect(SeatFact(monitorLine: line) == fact)
    }

    @Test func `what logind answers is read, and what it does not say counts as locked`() {
        #expect(SeatFact(activeSession: "(<('2', objectpath '\(Self.worker)')>,)\n") == .active(session: Self.worker))
        #expect(SeatFact(activeSession: "(<('', objectpath '/')>,)\n") == .active(session: nil))
        #expect(SeatFact(activeSession: "Error: no") == nil)
        #expect(SeatFact(lockedHint: "(<false>,)\n", session: "s") == .locked(false, session: "s"))
        #expect(SeatFact(lockedHint: "", session: "s") == nil)
        #expect(SeatFact(class: "(<'user'>,)\n", session: "s") == .ofUser(true, session: "s"))
        #expect(SeatFact(class: "(<'greeter'>,)", session: "s") == .ofUser(false, session: "s"))
        #expect(SeatFact(class: "", session: "s") == .ofUser(false, session: "s"))
    }
}

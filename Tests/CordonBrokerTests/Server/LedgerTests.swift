import Testing

@testable import CordonBroker

/// How places and requests are shared among programs and users (SI-195).
@Suite struct LedgerTests {
    private let notes = ConnectionLedger.Caller.listed(.init(user: 1_000, program: "file 1 8"))
    private let mail = ConnectionLedger.Caller.listed(.init(user: 1_000, program: "file 1 9"))
    private let foreign = ConnectionLedger.Caller.listed(.init(user: 1_001, program: "file 1 8"))
    private let stranger = ConnectionLedger.Caller.stranger(1_000)

    @Test func `a program that connects too fast is turned away, and others of the same user are not`() {
        var limits = BrokerLimits()
        limits.connectsAtOnce = 3
        limits.connectsPerSecond = 10
        var ledger = ConnectionLedger(limits)
        let admitted = (0..<5).map { _ in ledger.admit(notes, now: 0) != nil }
        #expect(admitted == [true, true, true, false, false])
        #expect(ledger.admit(mail, now: 0) != nil && ledger.admit(foreign, now: 0) != nil)
        // A tenth of a second later there is room for one.
        let later = (0..<2).map { _ in ledger.admit(notes, now: 100_000_000) != nil }
        #expect(later == [true, false])
    }

    @Test func `a process that connects too fast is turned away before it is looked at, and no other process is`() {
        var limits = BrokerLimits()
        limits.connectsAtOnce = 3
        limits.connectsPerSecond = 10
        var ledger = ConnectionLedger(limits)
        let first = (0..<5).map { _ in ledger.mayKnock(8, now: 0) }
        #expect(first == [true, true, true, false, false])
        let other = ledger.mayKnock(9, now: 0)
        let later = (0..<2).map { _ in ledger.mayKnock(8, now: 100_000_000) }
        #expect(other && later == [true, false])
    }

    @Test func `programs that are not on the list share a few places, and take none of a listed one's`() {
        let limits = BrokerLimits()
        var ledger = ConnectionLedger(limits)
        // A second each, so that only the places count.
        let second: UInt64 = 1_000_000_000
        let admitted = (0..<100).count { ledger.admit(stranger, now: UInt64($0) * second) != nil }
        #expect(admitted == limits.strangers)
        #expect(ledger.admit(.stranger(1_001), now: 0) == nil, "all users' strangers share them")
        let own = (0..<100).count { ledger.admit(notes, now: UInt64($0) * second) != nil }
        #expect(own == 100)
        #expect(ledger.admit(.administrator, now: 0) != nil)
        ledger.release(stranger)
        #expect(ledger.admit(stranger, now: 200 * second) != nil)
    }

    @Test func `strangers that are refused cannot come back a hundred times a second`() {
        let limits = BrokerLimits()
        var ledger = ConnectionLedger(limits)
        var admitted = 0
        // Each is closed at once; ten seconds, a thousand attempts.
        for attempt in 0..<1_000 where ledger.admit(stranger, now: UInt64(attempt) * 10_000_000) != nil {
            admitted += 1
            ledger.release(stranger)
        }
        #expect(admitted <= limits.strangers + 10 * limits.strangersPerSecond)
        #expect(ledger.admit(notes, now: 0) != nil)
    }

    @Test func `a listed program has its places, whatever its user's other programs hold`() {
        var limits = BrokerLimits()
        limits.connectionsPerUser = 20
        limits.connections = 30
        limits.reservedPerProgram = 4
        var ledger = ConnectionLedger(limits)
        #expect((0..<100).count { _ in ledger.admit(notes, now: 0) != nil } == 20)
        #expect((0..<100).count { _ in ledger.admit(mail, now: 0) != nil } == 4)
        #expect((0..<100).count { _ in ledger.admit(foreign, now: 0) != nil } == 6)
        #expect((0..<100).count { _ in ledger.admit(.administrator, now: 0) != nil } == 4)
        ledger.release(mail)
        #expect(ledger.admit(mail, now: 0) != nil && ledger.admit(mail, now: 0) == nil)
    }

    @Test func `where the process may open few files, the places of each program stay free`() {
        let usual = BrokerLimits()
        #expect(usual.fitting(100_000) == usual)
        // A limit of 1,024 files, two for each connection and 128 for other things.
        var few = ConnectionLedger(usual.fitting(448))
        let second: UInt64 = 1_000_000_000
        let flood = (0..<600).count { few.admit(notes, now: UInt64($0) * second) != nil }
        #expect(flood == 448 - usual.strangers - 16 * usual.reservedPerProgram)
        let places = (0..<16).map { program in
            let app = ConnectionLedger.Caller.listed(.init(user: 1_000, program: "file 1 \(100 + program)"))
            return (0..<9).count { _ in few.admit(app, now: 0) != nil }
        }
        #expect(places == Array(repeating: usual.reservedPerProgram, count: 16))
        var none = ConnectionLedger(usual.fitting(0))
        #expect((0..<9).count { _ in none.admit(notes, now: 0) != nil } == usual.reservedPerProgram)
    }

    @Test func `the connections of one program share its budget, and another program has its own`() throws {
        var limits = BrokerLimits()
        limits.programBurst = 2
        limits.programPerSecond = 1_000
        var ledger = ConnectionLedger(limits)
        let budgets = [notes, notes, mail].map { ledger.admit($0, now: 0) }
        let (one, two, other) = (try #require(budgets[0]), try #require(budgets[1]), try #require(budgets[2]))
        #expect(one.spend(now: 0) == 0 && two.spend(now: 0) == 0)
        #expect(one.spend(now: 0) == 1_000_000 && two.spend(now: 0) == 2_000_000)
        #expect(other.spend(now: 0) == 0)
        ledger.release(notes)
        ledger.release(notes)
        let again = ledger.admit(notes, now: 0)
        #expect(try #require(again).spend(now: 0) > 0, "a program that comes back has no new budget")
    }
}

/// What a ``StateCounter`` holds of one record: how often it came and went, and which one is there.
struct StateNumber: Equatable, Sendable {
    /// No record is written as often: twice as much would have no place above the mark.
    static let limit: Int64 = 1 << 30

    /// Twice the record's generation, and one more where it is gone; 0 where there never was one.
    let state: Int64
    /// A random number that tells the record from others of its generation. Set as well while the first record is being written; 0 when
    /// there is no record, and for a record that an earlier version counted.
    let mark: UInt32
    /// Whether a version before has counted, which knew no marks.
    let isUnmarked: Bool

    private static let shift: Int64 = 32

    /// Reads what the counter holds. What versions before have counted is below the place of the state.
    init(_ counted: Int64) {
        isUnmarked = counted < 1 << Self.shift
        state = isUnmarked ? counted : counted >> Self.shift
        mark = isUnmarked ? 0 : UInt32(truncatingIfNeeded: counted)
    }

    init(state: Int64, mark: UInt32 = 0) {
        self.state = state
        self.mark = mark
        isUnmarked = false
    }

    /// The number of a new record.
    init(of generation: Int64) { self.init(state: 2 * generation, mark: .random(in: 1...UInt32.max)) }

    /// The number while a new record is being written where there is none.
    init(before generation: Int64) { self.init(state: 2 * generation - 1, mark: .random(in: 1...UInt32.max)) }

    /// The number as the counter holds it. It rises with the state.
    var counted: Int64 { isUnmarked ? state : state << Self.shift | Int64(mark) }
    var generation: Int64 { state / 2 }
    /// Whether nothing is there, or not yet.
    var isAbsent: Bool { state == 0 || state % 2 == 1 }
    /// Whether the first record was being written when a process was killed, or is.
    var isBegun: Bool { state % 2 == 1 && mark != 0 }
}

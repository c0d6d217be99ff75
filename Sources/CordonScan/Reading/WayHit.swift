/// A place where data may leave, before it is asked whether something guards it.
struct WayHit {
    /// The token that it is found by.
    let token: Int
    /// Where the expression or declaration ends.
    let end: Int
    let way: WayOut
    var severity: ScanFinding.Severity
    /// What was written.
    let symbol: String
    /// The body of a method that the system calls, whose guards stand in it.
    var body: ClosedRange<Int>?
}

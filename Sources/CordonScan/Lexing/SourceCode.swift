/// A file's tokens, and which brackets enclose them.
struct SourceCode {
    let text: SourceText
    let isSwift: Bool
    private(set) var tokens: [Token] = []
    /// For a bracket its partner, for anything else and for a bracket without one -1.
    private(set) var partners: [Int32] = []
    /// The bracket that a token stands in, -1 outside of all.
    private(set) var enclosing: [Int32] = []
    private(set) var comments: [ScanComment] = []
    /// Whether brackets are nested deeper than anyone writes, so that it is not followed what encloses what.
    private(set) var isTooDeep = false

    private static let deepest = 512

    private enum Step {
        case opened
        case closed(Int32)
    }

    private struct Branch {
        let outer: BuildReach
        var condition: BuildCondition
        var rest: BuildReach
        let mark: Int
    }

    private var open: [Int32] = []
    private var steps: [Step] = []
    private var branches: [Branch] = []
    private(set) var reach = BuildReach.shipped

    init(_ text: SourceText, isSwift: Bool) {
        self.text = text
        self.isSwift = isSwift
        let estimate = text.count / 5
        tokens.reserveCapacity(estimate)
        partners.reserveCapacity(estimate)
        enclosing.reserveCapacity(estimate)
    }

    /// The part of each word that tells which rules look at it, replaced where a project gives a type another name.
    mutating func rename(_ names: [UInt64: UInt64]) {
        guard !names.isEmpty else { return }
        for index in tokens.indices where tokens[index].kind == .identifier {
            if let name = names[tokens[index].hash] { tokens[index].hash = name }
        }
    }

    /// Says of a stretch of code that no shipped build has it.
    mutating func markDebug(_ range: ClosedRange<Int>) {
        for index in range.clamped(to: 0...max(0, tokens.count - 1)) where tokens.indices.contains(index) {
            tokens[index].isDebug = true
        }
    }

    // MARK: Building

    mutating func add(_ kind: Token.Kind, _ range: Range<Int>, hash: UInt64, startsLine: Bool) {
        guard reach != .never else { return }
        let index = Int32(clamping: tokens.count)
        tokens.append(
            Token(
                kind: kind, startsLine: startsLine, isDebug: reach == .debug, start: UInt32(clamping: range.lowerBound),
                end: UInt32(clamping: range.upperBound), hash: hash))
        partners.append(-1)
        enclosing.append(open.last ?? -1)
        guard kind == .mark else { return }
        switch hash {
        case Mark.openParen, Mark.openBrace, Mark.openBracket: push(index)
        case Mark.closeParen: close(index, Mark.openParen)
        case Mark.closeBrace: close(index, Mark.openBrace)
        case Mark.closeBracket: close(index, Mark.openBracket)
        default: break
        }
    }

    mutating func add(_ comment: ScanComment) { comments.append(comment) }

    private mutating func push(_ index: Int32) {
        guard open.count < Self.deepest else {
            isTooDeep = true
            return
        }
        open.append(index)
        steps.append(.opened)
    }

    private mutating func close(_ index: Int32, _ opener: UInt64) {
        // What was left open inside is closed with it: a bracket that is missing must not swallow the rest of a file.
        var last = open.count - 1
        while last >= 0, open.count - last <= 3, tokens[Int(open[last])].hash != opener { last -= 1 }
        guard last >= 0, tokens[Int(open[last])].kind == .mark, tokens[Int(open[last])].hash == opener else { return }
        while open.count > last {
            let popped = open.removeLast()
            steps.append(.closed(popped))
            if open.count == last {
                partners[Int(popped)] = index
                partners[Int(index)] = popped
                enclosing[Int(index)] = open.last ?? -1
            }
        }
    }

    /// Takes the brackets back to how they stood, because a branch of a condition begins where the one before began.
    private mutating func rewind(to mark: Int) {
        while steps.count > mark, let step = steps.popLast() {
            switch step {
            case .opened: open.removeLast()
            case .closed(let opener): open.append(opener)
            }
        }
    }

    mutating func beginDefinition(_ range: Range<Int>, hash: UInt64) -> Int {
        let mark = steps.count
        let index = Int32(clamping: tokens.count)
        add(.define, range, hash: hash, startsLine: true)
        if reach != .never { push(index) }
        return mark
    }

    mutating func endDefinition(_ mark: Int) { rewind(to: mark) }

    mutating func beginCondition(_ condition: BuildCondition) {
        branches.append(
            Branch(outer: reach, condition: condition, rest: condition.unmet, mark: steps.count))
        reach = max(reach, condition.met)
    }

    mutating func elseCondition(_ condition: BuildCondition?) {
        guard var branch = branches.popLast() else { return }
        rewind(to: branch.mark)
        let own = condition.map { max(branch.rest, $0.met) } ?? branch.rest
        if let condition {
            branch.condition = condition
            branch.rest = max(branch.rest, condition.unmet)
        }
        reach = max(branch.outer, own)
        branches.append(branch)
    }

    mutating func endCondition() {
        guard let branch = branches.popLast() else { return }
        reach = branch.outer
    }
}

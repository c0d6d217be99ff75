public import CordonPolicy
public import CordonProtocol
public import Foundation

/// One running example app, driven line by line as a person would type, answering in JSON.
public actor AppSession {
    /// One answer or event, as the app printed it.
    public struct Answer: Sendable {
        /// The members of the JSON object.
        public let members: [String: JSONValue]
        /// When the line was read.
        public let arrived: ContinuousClock.Instant

        /// A member as text, nil where it is absent or not text.
        public subscript(name: String) -> String? { members[name]?.string }
    }

    /// The process behind the session.
    public nonisolated let process: ChildProcess
    private let board: AnswerBoard

    /// Starts an app in JSON mode.
    ///
    /// - Throws: ``ProgramError`` when it cannot be started.
    public init(_ executable: URL, _ arguments: [String]) throws(ProgramError) {
        let process = try ChildProcess(executable, arguments + ["--json"])
        let board = AnswerBoard()
        Task {
            for await line in process.lines {
                guard let members = (try? JSONValue(parsing: Data(line.utf8)))?.object else { continue }
                await board.post(Answer(members: members, arrived: .now), as: members["event"]?.string)
            }
            await board.close()
        }
        self.process = process
        self.board = board
    }

    /// Types a command and waits for its answer; one command at a time.
    ///
    /// - Throws: ``ProgramError`` when the app ends instead, or does not answer within the time.
    @discardableResult
    public func ask(_ command: String, within limit: Duration = .seconds(60)) async throws(ProgramError) -> Answer {
        process.send(command)
        guard let answer = await board.take(nil, within: limit) else {
            throw ProgramError.stage(
                "the app did not answer `\(command.prefix(40))` within \(limit): \(await process.standardErrorTail)")
        }
        return answer
    }

    /// The first event of the name that comes, or already came and was not taken.
    ///
    /// - Throws: ``ProgramError`` when none came within the time.
    public nonisolated func event(_ name: String, within limit: Duration = .seconds(60)) async throws(ProgramError)
        -> Answer
    {
        guard let answer = await board.take(name, within: limit) else {
            throw ProgramError.stage(
                "the app did not report `\(name)` within \(limit): \(await process.standardErrorTail)")
        }
        return answer
    }

    /// Whether an event of the name came and was not taken.
    public nonisolated func hasHappened(_ name: String) async -> Bool {
        await board.has(name)
    }

    /// Forgets events of the name that came and were not taken.
    public nonisolated func forgetEvents(_ name: String) async {
        await board.forget(name)
    }

    /// Ends the app and waits for it.
    @discardableResult
    public nonisolated func end() async -> Int32 {
        await process.end()
    }
}

/// Events by name, and answers without one, for the callers that wait for them.
private actor AnswerBoard {
    private struct Waiter {
        let name: String?
        let id: Int
        let continuation: CheckedContinuation<AppSession.Answer?, Never>
    }

    private var posted: [(name: String?, answer: AppSession.Answer)] = []
    private var waiting: [Waiter] = []
    private var nextID = 0
    private var isClosed = false

    func post(_ answer: AppSession.Answer, as name: String?) {
        if let index = waiting.firstIndex(where: { $0.name == name }) {
            waiting.remove(at: index).continuation.resume(returning: answer)
        } else {
            posted.append((name, answer))
        }
    }

    func has(_ name: String) -> Bool {
        posted.contains { $0.name == name }
    }

    func forget(_ name: String) {
        posted.removeAll { $0.name == name }
    }

    func close() {
        isClosed = true
        for waiter in waiting { waiter.continuation.resume(returning: nil) }
        waiting = []
    }

    func take(_ name: String?, within limit: Duration) async -> AppSession.Answer? {
        if let index = posted.firstIndex(where: { $0.name == name }) { return posted.remove(at: index).answer }
        if isClosed { return nil }
        nextID += 1
        let id = nextID
        let timer = Task {
            try await Task.sleep(for: limit)
            self.giveUp(id)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation {
            waiting.append(Waiter(name: name, id: id, continuation: $0))
        }
    }

    private func giveUp(_ id: Int) {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return }
        waiting.remove(at: index).continuation.resume(returning: nil)
    }
}

internal import CordonBase
public import CordonProtocol
public import Foundation

/// A real process with pipes: lines go in, lines come out, and it is ended by its process id.
///
/// May be used from any task. Standard error is kept as a short tail for error messages.
public final class ChildProcess: Sendable {
    /// The process id, valid until the process was waited for.
    public let id: Int32
    /// What it writes to standard output, line by line; ends when it does. For one reader.
    public let lines: AsyncStream<String>

    private let input: FileHandle
    private let exit: AsyncStream<Int32>
    private let talk: LineTail
    private let talking: Task<Void, Never>

    /// The ids of all that run, and whether they are to end.
    private static let running = Locked<(ids: Set<Int32>, areEnding: Bool)>(([], false))

    /// Asks every process that this one has started and that still runs to end, without waiting for it, and from then on each that it
    /// starts.
    public static func endAll() {
        let ids = running.withLock { running in
            running.areEnding = true
            return running.ids
        }
        for id in ids { kill(id, SIGTERM) }
    }

    /// Starts an executable. From then on this process ignores `SIGPIPE`, so that writing to one that has ended is an error, and does
    /// not end this process.
    ///
    /// - Parameters:
    ///   - executable: The file to run.
    ///   - arguments: Its arguments without its own name.
    ///   - environment: What to add to this process's environment.
    /// - Throws: ``ProgramError`` when it cannot be started.
    public init(_ executable: URL, _ arguments: [String], environment: [String: String] = [:]) throws(ProgramError) {
        ignoreBrokenPipes()
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        let (exit, exited) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { ended in
            Self.running.withLock { _ = $0.ids.remove(ended.processIdentifier) }
            exited.yield(ended.terminationReason == .exit ? ended.terminationStatus : -ended.terminationStatus)
            exited.finish()
        }
        do { try process.run() } catch {
            throw ProgramError.stage(
                "\(executable.lastPathComponent) cannot be started", hint: "Run `swift build` first.")
        }
        let isEnding = Self.running.withLock { running in
            running.ids.insert(process.processIdentifier)
            return running.areEnding
        }
        if !process.isRunning { Self.running.withLock { _ = $0.ids.remove(process.processIdentifier) } }
        if isEnding { process.terminate() }
        let talk = LineTail()
        self.id = process.processIdentifier
        self.lines = Self.lines(of: output.fileHandleForReading)
        self.input = input.fileHandleForWriting
        self.exit = exit
        self.talk = talk
        let spoken = Self.lines(of: errors.fileHandleForReading)
        self.talking = Task { for await line in spoken { await talk.add(line) } }
    }

    /// The last lines of standard error.
    public var standardErrorTail: String {
        get async { await talk.text }
    }

    /// Writes a line to the process's standard input; a process that has ended takes no notice.
    public func send(_ line: String) {
        try? input.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Closes the process's standard input.
    public func closeInput() {
        try? input.close()
    }

    /// Sends a signal to the process.
    public func signal(_ number: Int32) {
        kill(id, number)
    }

    /// Waits for the end; the exit status, or the negated signal number. For one caller.
    public func wait() async -> Int32 {
        for await status in exit {
            closeInput()
            await waitForStandardError()
            return status
        }
        return 0
    }

    /// Waits for the end of standard error, but not long: a process of its own that it left behind can hold it open.
    private func waitForStandardError() async {
        let limit = Task {
            try? await Task.sleep(for: .seconds(2))
            talking.cancel()
        }
        await talking.value
        limit.cancel()
    }

    /// Asks the process to end and waits; after the grace period it is killed.
    @discardableResult
    public func end(grace: Duration = .seconds(15)) async -> Int32 {
        closeInput()
        signal(SIGTERM)
        let killer = Task {
            try await Task.sleep(for: grace)
            self.signal(SIGKILL)
        }
        defer { killer.cancel() }
        return await wait()
    }

    private static func lines(of handle: FileHandle) -> AsyncStream<String> {
        let (lines, arrived) = AsyncStream.makeStream(of: String.self)
        // A blocking read belongs to a thread of its own, not to the pool that runs tasks.
        let reader = Thread {
            var rest = Data()
            while true {
                // Answers with what there is; `read(upToCount:)` would wait for all of it.
                let piece = handle.availableData
                if piece.isEmpty { break }
                rest += piece
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    arrived.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
            // What holds it may live on: a thread, or the object of the process.
            try? handle.close()
            if !rest.isEmpty { arrived.yield(String(decoding: rest, as: UTF8.self)) }
            arrived.finish()
        }
        reader.start()
        return lines
    }
}

/// Makes writing to a process that has ended an error to pass over, not a signal that ends this one.
private func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

/// The last few lines of a stream.
private actor LineTail {
    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") }

    func add(_ line: String) {
        lines = (lines + [line]).suffix(20)
    }
}

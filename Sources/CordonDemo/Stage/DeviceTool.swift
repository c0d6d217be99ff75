public import CordonPolicy
public import CordonProtocol
public import CordonSignIn
public import Foundation

/// `cordon device …` as an administrator or worker uses it at a terminal.
public struct DeviceTool: Sendable {
    private let cordon: URL
    private let socket: String
    private let transport: any HTTPTransport

    /// Uses a tool at a broker.
    public init(cordon: URL, socket: String, transport: any HTTPTransport) {
        self.cordon = cordon
        self.socket = socket
        self.transport = transport
    }

    /// What a command printed last, and how it ended.
    public struct Outcome: Sendable {
        /// The exit status.
        public let status: Int32
        /// The last line of JSON.
        public let answer: JSONValue
        /// What it said to the person.
        public let words: String
    }

    /// Runs a command; a page that it wants shown is visited by the person.
    ///
    /// - Throws: ``ProgramError`` when the command cannot be started or the page fails.
    public func run(
        _ arguments: [String], as person: (name: String, password: String)? = nil
    ) async throws(ProgramError) -> Outcome {
        let process = try ChildProcess(
            cordon, ["device"] + arguments + ["--socket", socket, "--development", "--json"])
        var answer = JSONValue.null
        for await line in process.lines {
            guard let value = try? JSONValue(parsing: Data(line.utf8)) else { continue }
            if value["event"] != nil, let page = value["page"]?.string.flatMap({ URL(string: $0) }), let person {
                let visitor = Person(name: person.name, password: person.password)
                do { try await visitor.visit(page, over: transport) } catch {
                    process.signal(SIGTERM)
                    throw error
                }
            } else {
                answer = value
            }
        }
        let status = await process.wait()
        return Outcome(status: status, answer: answer, words: await process.standardErrorTail)
    }
}

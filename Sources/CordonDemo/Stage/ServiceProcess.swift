public import CordonPolicy
public import CordonProtocol
public import Foundation

/// A running `cordon serve --development`, started and ended as an operator would.
public struct ServiceProcess: Sendable {
    /// The process.
    public let process: ChildProcess
    /// Where it answers.
    public let address: URL
    /// What it printed when it was ready.
    public let announcement: [String: JSONValue]

    /// The root key's thumbprint, for the apps to pin.
    public var rootKey: String { announcement["rootKey"]?.string ?? "" }

    /// Starts the service and waits until it answers.
    ///
    /// - Parameters:
    ///   - cordon: The tool.
    ///   - folder: Its data folder; the same folder again is the same service.
    ///   - port: The port, 0 for any.
    /// - Throws: ``ProgramError`` when it does not come up, with what it said.
    public static func start(_ cordon: URL, folder: URL, port: Int = 0) async throws(ProgramError) -> ServiceProcess {
        let process = try ChildProcess(
            cordon,
            ["serve", "--development", "--listen", "127.0.0.1:\(port)", "--data-directory", folder.path])
        for await line in process.lines {
            guard let announcement = (try? JSONValue(parsing: Data(line.utf8)))?.object,
                let address = announcement["address"]?.string.flatMap({ URL(string: $0) })
            else { continue }
            return ServiceProcess(process: process, address: address, announcement: announcement)
        }
        let words = await process.standardErrorTail
        let status = await process.wait()
        throw ProgramError.stage("the service ended with status \(status): \(words)")
    }

    /// The people of the development directory with their passwords, as the service wrote them down at its first start.
    public static func passwords(in folder: URL) throws(ProgramError) -> [String: String] {
        guard let text = try? String(contentsOf: folder.appending(path: "passwords.txt"), encoding: .utf8) else {
            throw ProgramError.stage("the development passwords cannot be read")
        }
        var passwords: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(whereSeparator: \.isWhitespace)
            if words.count == 2 { passwords[String(words[0])] = String(words[1]) }
        }
        return passwords
    }
}

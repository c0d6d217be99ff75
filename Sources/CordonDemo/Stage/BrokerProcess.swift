internal import CordonPolicy
public import CordonProtocol
public import Foundation

/// A running `cordon broker run --development`.
public struct BrokerProcess: Sendable {
    /// The process.
    public let process: ChildProcess
    /// Where apps connect.
    public let socket: String

    /// Starts a broker and waits until apps can connect.
    ///
    /// - Parameters:
    ///   - cordon: The tool.
    ///   - folder: Its folder; the same folder again is the same device.
    ///   - issuer: The provider.
    ///   - options: More of the command's options.
    /// - Throws: ``ProgramError`` when it does not come up, with what it said.
    public static func start(
        _ cordon: URL, folder: URL, issuer: String, options: [String] = []
    ) async throws(ProgramError) -> BrokerProcess {
        let socket = runFolder(of: folder).appending(path: "broker.sock").path
        let process = try ChildProcess(
            cordon,
            [
                "broker", "run", "--development", "--socket", socket, "--issuer", issuer, "--data-directory",
                folder.appending(path: "data").path,
            ] + options)
        for await line in process.lines {
            guard (try? JSONValue(parsing: Data(line.utf8)))?["socket"]?.string == socket else { continue }
            return BrokerProcess(process: process, socket: socket)
        }
        let words = await process.standardErrorTail
        let status = await process.wait()
        throw ProgramError.stage("the broker ended with status \(status): \(words)")
    }

    /// Removes the socket's folder where it lies apart.
    static func removeRunFolder(of folder: URL) {
        let run = runFolder(of: folder)
        if !run.path.hasPrefix(folder.path) { try? FileManager.default.removeItem(at: run) }
    }

    /// The socket's folder: within the broker's own, unless that path is too long for a socket's address (107 bytes).
    private static func runFolder(of folder: URL) -> URL {
        let usual = folder.appending(path: "run", directoryHint: .isDirectory)
        guard usual.path.utf8.count > 90 else { return usual }
        // The same folder has the same socket, so that apps find a broker that was started again.
        let name = folder.path.utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return URL(filePath: "/tmp/cordon-\(String(name, radix: 16))", directoryHint: .isDirectory)
    }
}

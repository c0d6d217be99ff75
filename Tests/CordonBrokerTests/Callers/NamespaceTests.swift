import CordonIdentity
import CordonTesting
import Crypto
import Foundation
import Testing

@testable import CordonBroker

/// A program that gets an allowed app's path by a mount in a namespace of its own, which any user may make.
@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: NamespaceTests.canRun, "needs root, setpriv, python3 and user namespaces")
) struct NamespaceTests {
    /// Nobody in particular, who owns nothing that the list names.
    private static let user = "65534"
    private static let asUser = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups"]

    /// Greets and prints what the broker says to it.
    private static let script = """
        import socket, struct, sys
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(20)
        link.connect(sys.argv[1])
        hello = b'{"id":1,"verb":"hello","versions":[1],"clientID":"notes"}'
        link.sendall(struct.pack(">I", len(hello)) + hello)
        size = struct.unpack(">I", link.recv(4, socket.MSG_WAITALL))[0]
        print(link.recv(size, socket.MSG_WAITALL).decode(), flush=True)
        """

    static var canRun: Bool {
        guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"),
            let tool = setpriv
        else { return false }
        let probe = Process()
        probe.executableURL = URL(filePath: tool)
        probe.arguments = asUser + ["unshare", "-Urm", "mount", "--bind", "/usr/bin/true", "/usr/bin/false"]
        probe.standardError = FileHandle.nullDevice
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }

    private static var setpriv: String? {
        ["/usr/bin/setpriv", "/bin/setpriv"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program as the other user; what it wrote.
    private func run(_ arguments: [String], below folder: URL) async throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: try #require(Self.setpriv))
        process.arguments = Self.asUser + arguments
        let output = folder.appending(path: "output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let handle = try FileHandle(forWritingTo: output)
        process.standardOutput = handle
        process.standardError = handle
        await withCheckedContinuation { continuation in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume() }
        }
        return try String(contentsOf: output, encoding: .utf8)
    }

    @Test(arguments: [false, true])
    func `a program mounted over an allowed app's path is refused at once, and the app itself is served`(
        withDigest: Bool
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cordon-programs-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = folder.appending(path: "greet.py").path
        try Data(Self.script.utf8).write(to: URL(filePath: script))
        let app = folder.appending(path: "notes").path
        let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: python, toPath: app)
        let digest = SHA256.hash(data: try Data(contentsOf: URL(filePath: app))).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        // The other user's own program; its size is a hole, and whoever reads all of it is busy for a minute.
        let other = folder.appending(path: "other").path
        try FileManager.default.copyItem(atPath: python, toPath: other)
        #expect(truncate(other, 64 << 30) == 0)
        #expect(chown(other, 65_534, 65_534) == 0)

        let stand = try BrokerStand {
            $0.apps = [
                AllowedApp(name: "notes", path: app, sha256: withDigest ? digest : nil, clientIDs: ["notes"])
            ]
        }
        try await ServedBroker.serve(stand) { socket, _ in
            let genuine = try await run([app, "-I", script, socket], below: folder)
            #expect(genuine.contains(#""hello""#), "\(genuine)")
            let mount = #"mount --bind "$1" "$2" && exec "$2" -I "$3" "$4""#
            let mounted = try await run(
                ["unshare", "-Urm", "sh", "-c", mount, "sh", other, app, script, socket], below: folder)
            #expect(mounted.contains("brokerDenied") && !mounted.contains(#""hello""#), "\(mounted)")
            let again = try await run([app, "-I", script, socket], below: folder)
            #expect(again.contains(#""hello""#), "\(again)")
        }
    }
}

import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// A program that gets an allowed app's path by a mount in a namespace of its own, which any user may make.
@Suite(
    .serialized, .timeLimit(.minutes(10)), .tags(.machineAlone),
    .enabled(if: OtherUser.hasNamespaces, "needs root, setpriv, python3 and user namespaces")
) struct NamespaceTests {
    /// Greets and prints what the broker says to it.
    private static let script = """
        import socket, struct, sys
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(100)
        link.connect(sys.argv[1])
        hello = b'{"id":1,"verb":"hello","versions":[1,2],"clientID":"notes"}'
        link.sendall(struct.pack(">I", len(hello)) + hello)
        size = struct.unpack(">I", link.recv(4, socket.MSG_WAITALL))[0]
        print(link.recv(size, socket.MSG_WAITALL).decode(), flush=True)
        """

    @Test(arguments: [false, true])
    func `a program mounted over an allowed app's path is refused at once, and the app itself is served`(
        withDigest: Bool
    ) async throws {
        let folder = TemporaryFolder.newPath()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = folder.appending(path: "greet.py").path
        try Data(Self.script.utf8).write(to: URL(filePath: script))
        let app = folder.appending(path: "notes").path
        let python = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: python, toPath: app)
        let digest = try await OtherUser.run(["sha256sum", app]).prefix(64)
        // The other user's own program; its size is a hole, and a reader of all of it is busy for ten minutes.
        let other = folder.appending(path: "other").path
        try FileManager.default.copyItem(atPath: python, toPath: other)
        #expect(truncate(other, 1 << 40) == 0)
        #expect(chown(other, OtherUser.id, OtherUser.id) == 0)

        let stand = try BrokerStand {
            $0.apps = [
                AllowedApp(name: "notes", path: app, sha256: withDigest ? String(digest) : nil, clientIDs: ["notes"])
            ]
        }
        try await ServedBroker.serve(stand) { socket, _ in
            let genuine = try await OtherUser.run([app, "-I", script, socket])
            #expect(genuine.contains(#""hello""#), "\(genuine)")
            let mount = #"mount --bind "$1" "$2" && exec "$2" -I "$3" "$4""#
            let mounted = try await OtherUser.run(
                ["unshare", "-Urm", "sh", "-c", mount, "sh", other, app, script, socket])
            #expect(mounted.contains("brokerDenied") && !mounted.contains(#""hello""#), "\(mounted)")
            // The app's own file, where its user may mount other libraries, or have the kernel name this file for another.
            let rootless = try await OtherUser.run(["unshare", "-Ur", app, "-I", script, socket])
            #expect(
                rootless.contains("a namespace of processes or users of its own") && !rootless.contains(#""hello""#),
                "\(rootless)")
            let again = try await OtherUser.run([app, "-I", script, socket])
            #expect(again.contains(#""hello""#), "\(again)")
        }
    }
}

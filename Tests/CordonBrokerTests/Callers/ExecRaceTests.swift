import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// A process that becomes another program over a connection that the first one made (SI-190).
@Suite(
    .tags(.machineAlone), .timeLimit(.minutes(10)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3")
) struct ExecRaceTests {
    /// Greets, becomes another program or stays, and asks; prints both answers.
    private static let script = """
        import os, socket, struct, sys
        def frame(text): return struct.pack(">I", len(text)) + text.encode()
        def read(link):
            size = struct.unpack(">I", link.recv(4, socket.MSG_WAITALL))[0]
            return link.recv(size, socket.MSG_WAITALL).decode()
        link = socket.socket(socket.AF_UNIX)
        if sys.argv[2] == "second":
            link = socket.socket(fileno=int(sys.argv[3]))
        else:
            link.connect(sys.argv[1])
            link.sendall(frame('{"id":1,"verb":"hello","versions":[1],"clientID":"x"}'))
            print(read(link), flush=True)
        if sys.argv[2] == "change":
            os.set_inheritable(link.fileno(), True)
            os.execv(sys.argv[4], [sys.argv[4], sys.argv[3], sys.argv[1], "second", str(link.fileno())])
        link.sendall(frame('{"id":2,"verb":"device.info"}'))
        print(read(link), flush=True)
        """

    private func run(_ arguments: [String]) async throws -> String {
        try await Program.run("/usr/bin/python3", arguments).text
    }

    @Test func `a program that was swapped after it connected is refused, and one that stays is not`() async throws {
        try await ServedBroker.serve { socket, stand in
            let script = stand.folder.appending(path: "app.py")
            try Data(Self.script.utf8).write(to: script)
            // The same interpreter as another file: what an attacker would put in an allowed app's process.
            let other = stand.folder.appending(path: "other").path
            let real = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath()
            try FileManager.default.copyItem(atPath: real.path, toPath: other)
            let stays = try await run([script.path, socket, "stay"])
            #expect(stays.contains(#""hello""#) && stays.contains(#""device""#), "\(stays)")
            let changes = try await run(
                [script.path, socket, "change", script.path, other])
            #expect(changes.contains(#""hello""#), "\(changes)")
            #expect(changes.contains("brokerDenied") && !changes.contains(#""device""#), "\(changes)")
        }
    }
}

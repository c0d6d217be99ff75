import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Glibc
import Logging
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// A process that connects, leaves the connection to a child and becomes an allowed program before the broker looks at it: a
/// broker that starts after all that looks too late for certain.
@Suite(
    .serialized, .timeLimit(.minutes(10)), .tags(.machineAlone),
    .enabled(if: OtherUser.hasNamespaces, "needs root, setpriv, python3 and user namespaces")
) struct ConnectRaceTests {
    /// The child prints all that the broker says on the connection, and "closed" at its end.
    private static let script =
        AllowedCopy.frames + """
            way, app, ready = sys.argv[2:5]
            link = connect()
            if way == "ahead":
                link.sendall(frame(HELLO) + frame('{"id":2,"verb":"device.info"}'))
            caller, now, then = os.getpid(), *os.pipe()
            os.set_inheritable(then, False)
            if os.fork():
                os.execv(app, [app, "60"])
            os.close(then)
            os.read(now, 1)
            open(ready, "w").close()
            def say(text):
                if way == "forged":
                    sender = struct.pack("iii", caller, os.getuid(), os.getgid())
                    link.sendmsg([frame(text)], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, sender)])
                else:
                    link.sendall(frame(text))
            try:
                if way != "ahead": say(HELLO)
                greeting = read(link)
                print(greeting, flush=True)
                if way == "ahead": print(read(link), flush=True)
                if '"nonce":"' in greeting:
                    nonce = greeting.split('"nonce":"')[1].split('"')[0]
                    say('{"id":3,"verb":"device.info","nonce":"%s"}' % nonce)
                    print(read(link), flush=True)
            except OSError as error:
                print(error)
            print("closed", flush=True)
            os.kill(caller, 9)
            """

    /// What the child heard.
    private func attack(_ way: String, throughNamespace: Bool) async throws -> String {
        let place = try AllowedCopy()
        defer { place.remove() }
        let app = try place.install("/usr/bin/sleep", as: "notes")
        let digest = try await OtherUser.run(["sha256sum", app]).prefix(64)
        let script = try place.write(Self.script, as: "attack.py")
        let marks = place.folder.appending(path: "marks")
        try FileManager.default.createDirectory(at: marks, withIntermediateDirectories: true)
        try #require(chmod(marks.path, 0o777) == 0)
        let stand = try BrokerStand {
            $0.apps = [AllowedApp(name: "notes", path: app, sha256: String(digest), clientIDs: ["notes"])]
        }
        let socket = place.folder.appending(path: "s").path
        let listener = try Listener.make(socket)
        try #require(chmod(socket, 0o666) == 0)
        let ready = marks.appending(path: "ready").path
        // The first process of a namespace cannot be killed from within it, so a shell is that one.
        let wrap = throughNamespace ? ["unshare", "-Urpf", "sh", "-c", #""$@"; true"#, "sh"] : []
        let heard = Task {
            try await OtherUser.run(wrap + ["/usr/bin/python3", "-I", script, socket, way, app, ready])
        }
        try await until { FileManager.default.fileExists(atPath: ready) }
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let broker = try await Broker(
            stand.configuration, folder: stand.folder.appending(path: "data"),
            secrets: FileSecretStore(directory: stand.folder.appending(path: "secrets")),
            transport: stand.provider.transport, environment: stand.time.environment, logger: quiet)
        let server = BrokerServer(broker, socket: socket, inherited: listener, limits: .patient, logger: quiet)
        let serving = Task { try await server.run {} }
        let said = try await heard.value
        serving.cancel()
        try await serving.value
        return said
    }

    @Test func `a child that keeps the connection of a process that became the allowed program is not greeted`()
        async throws
    {
        let heard = try await attack("child", throughNamespace: false)
        #expect(!heard.contains(#""hello""#) && heard.contains("closed"), "\(heard)")
    }

    @Test func `what a process wrote before it became the allowed program asks for nothing`() async throws {
        let heard = try await attack("ahead", throughNamespace: false)
        #expect(heard.contains(#""hello""#), "the broker cannot know who wrote it; \(heard)")
        #expect(!heard.contains(#""device""#) && heard.contains("closed"), "\(heard)")
    }

    @Test func `a child that sends in the name of the process that connected is refused`() async throws {
        let heard = try await attack("forged", throughNamespace: true)
        #expect(!heard.contains(#""hello""#) && heard.contains("brokerDenied"), "\(heard)")
    }
}

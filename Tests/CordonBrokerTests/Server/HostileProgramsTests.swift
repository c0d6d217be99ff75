import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// Programs of the device's own user that flood, lie and never read, beside an app of the list that is the same user's.
@Suite(
    .serialized, .timeLimit(.minutes(10)), .tags(.machineAlone),
    .enabled(if: OtherUser.hasNamespaces, "needs root, setpriv, python3 and user namespaces")
) struct HostileProgramsTests {
    /// Holds as many connections as it gets and makes new ones without end, until a file says stop: silent ones, ones that lie
    /// about lengths, and ones that ask and never read. It keeps the kernel's queue of the socket full, and waits for a place in it
    /// like every program: which of two programs takes a place that falls free is the scheduler's choice, not the broker's.
    private static let flood =
        AllowedCopy.frames + """
            held, made = [], 0
            HELLO = HELLO.replace("notes", sys.argv[4])
            print("begun", flush=True)
            while not os.path.exists(sys.argv[2]):
                link = socket.socket(socket.AF_UNIX)
                link.setblocking(False)
                try:
                    try:
                        link.connect(sys.argv[1])
                    except BlockingIOError:
                        link.setblocking(True)
                        link.connect(sys.argv[1])
                        link.setblocking(False)
                    if made % 3 == 1: link.send(b"\\xff\\xff\\xff\\xff{")
                    if made % 3 == 2: link.send(frame(HELLO) + frame('{"id":2,"verb":"device.info"}') * 200)
                except OSError:
                    pass
                made += 1
                held.append(link)
                if len(held) == 700: open(sys.argv[3], "w").close()
                if len(held) > 800: held.pop(0).close()
            """

    /// Connects, greets and asks, again and again; prints how often it was answered. Four connections at once, with four more that
    /// the broker may not have seen end, are what a program always has for itself; each waits once behind the full queue.
    private static let ask =
        AllowedCopy.frames + """
            import threading
            served = []
            def ask():
                for attempt in range(8):
                    link = connect()
                    try:
                        link.sendall(frame(HELLO))
                        nonce = read(link).split('"nonce":"')[1].split('"')[0]
                        link.sendall(frame('{"id":2,"verb":"device.info","nonce":"%s"}' % nonce))
                        if '"device"' in read(link): served.append(attempt)
                    except (OSError, IndexError):
                        pass
                    link.close()
            asking = [threading.Thread(target=ask) for _ in range(4)]
            for each in asking: each.start()
            for each in asking: each.join()
            print("served", len(served), flush=True)
            """

    /// - Parameter isListed: Whether the hostile program is an app of the list too, which is greeted and may ask.
    @Test(arguments: [false, true])
    func `a flood, a slow reader and a liar of the same user leave a listed app served`(isListed: Bool) async throws {
        let place = try AllowedCopy()
        defer { place.remove() }
        let app = try place.install("/usr/bin/python3", as: "notes")
        let other = try place.install("/usr/bin/python3", as: "board")
        let flood = try place.write(Self.flood, as: "flood.py")
        let ask = try place.write(Self.ask, as: "ask.py")
        let marks = place.folder.appending(path: "marks")
        try FileManager.default.createDirectory(at: marks, withIntermediateDirectories: true)
        try #require(chmod(marks.path, 0o777) == 0)
        let (stop, full) = (marks.appending(path: "stop").path, marks.appending(path: "full").path)
        let stand = try BrokerStand {
            $0.apps = [AllowedApp(name: "notes", path: app, clientIDs: ["notes"])]
            if isListed { $0.apps.append(AllowedApp(name: "board", path: other, clientIDs: ["board"])) }
        }
        try await ServedBroker.serve(stand) { socket, _ in
            let flooding = Task {
                try await OtherUser.run([other, "-I", flood, socket, stop, full, "board"])
            }
            // Also where this test fails: the program runs until it is told to stop.
            defer { try? Data().write(to: URL(filePath: stop)) }
            try await until { FileManager.default.fileExists(atPath: full) }
            let served = try await OtherUser.run([app, "-I", ask, socket])
            try Data().write(to: URL(filePath: stop))
            #expect(try await flooding.value.contains("begun"))
            #expect(served.contains("served 32"), "\(served)")
        }
    }

    @Test func `a program that is refused is told so and cut off at once`() async throws {
        let place = try AllowedCopy()
        defer { place.remove() }
        let script = try place.write(
            AllowedCopy.frames + """
                link = connect()
                link.sendall(frame(HELLO))
                print(read(link))
                print("rest", link.recv(1))
                """, as: "greet.py")
        // A program that is refused has no time left, however long others may take.
        try await ServedBroker.serve(BrokerStand()) { socket, _ in
            let heard = try await OtherUser.run(["/usr/bin/python3", "-I", script, socket])
            #expect(heard.contains("brokerDenied") && heard.contains("rest b''"), "\(heard)")
        }
    }
}

import CordonBase
import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Glibc
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// What a socket, a process and a file can do that no library does.
@Suite(
    .serialized, .timeLimit(.minutes(10)), .tags(.machineAlone),
    .enabled(if: OtherUser.hasNamespaces, "needs root, setpriv, python3 and user namespaces")
) struct TrickTests {
    private static let frames =
        AllowedCopy.frames + """
            def nonce(greeting): return greeting.split('"nonce":"')[1].split('"')[0]
            def question(link): return '{"id":2,"verb":"device.info","nonce":"%s"}' % nonce(read(link))

            """

    /// Runs a script as a listed program of another user; everything that it printed.
    private func run(
        _ script: String, _ limits: BrokerLimits = .patient, as program: (String) -> [String] = { [$0, "-I"] }
    ) async throws -> String {
        let place = try AllowedCopy()
        defer { place.remove() }
        let app = try place.install("/usr/bin/python3", as: "notes")
        let file = try place.write(Self.frames + script, as: "script.py")
        let stand = try BrokerStand { $0.apps = [AllowedApp(name: "notes", path: app, clientIDs: ["notes"])] }
        var heard = ""
        try await ServedBroker.serve(stand, limits) { socket, _ in
            heard = try await OtherUser.run(program(app) + [file, socket])
        }
        return heard
    }

    @Test func `descriptors that come with a request are dropped, and the request is answered`() async throws {
        let heard = try await run(
            """
            link = connect()
            mine, theirs = os.pipe()
            def send(text): link.sendmsg([frame(text)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", theirs))])
            send(HELLO)
            send(question(link))
            print("device" if '"device"' in read(link) else "nothing")
            os.close(theirs)
            print("dropped" if select.select([mine], [], [], 100)[0] else "kept")
            """)
        #expect(heard.contains("device") && heard.contains("dropped"), "\(heard)")
    }

    @Test func `a connection whose other half was closed keeps no place`() async throws {
        var limits = BrokerLimits.patient
        limits.reservedPerProgram = 4
        limits.connectionsPerUser = 4
        // Each is kept open on the program's own side; only the broker can have made room.
        let heard = try await run(
            """
            held = []
            for attempt in range(2000):
                if len(held) == 24: break
                link = connect()
                try:
                    link.sendall(frame(HELLO))
                    link.sendall(frame(question(link)))
                    link.shutdown(socket.SHUT_WR)
                    held.append(link)
                except (OSError, IndexError):
                    select.select([], [], [], 0.02)
            print("served", len(held))
            """, limits)
        #expect(heard.contains("served 24"), "\(heard)")
    }

    @Test func `the nonce of one connection is worth nothing on another of the same program`() async throws {
        let heard = try await run(
            """
            first, second = connect(), connect()
            for link in (first, second): link.sendall(frame(HELLO))
            one, other = question(first), question(second)
            second.sendall(frame(one))
            print("refused" if "brokerDenied" in read(second) else "answered")
            second.sendall(frame(other))
            print("own", '"device"' in read(second))
            """)
        #expect(heard.contains("refused") && heard.contains("own True"), "\(heard)")
    }

    @Test func `a connection that was handed to a child or to another program says nothing more`() async throws {
        let heard = try await run(
            """
            link = connect()
            link.sendall(frame(HELLO))
            asked = question(link)
            link.sendall(frame(asked))
            print("parent", '"device"' in read(link), flush=True)
            here, there = socket.socketpair()
            if os.fork() == 0:
                got = socket.recv_fds(here, 1, 1)[1][0]
                taken = socket.socket(fileno=got)
                try:
                    taken.sendall(frame(asked))
                    print("child", read(taken), flush=True)
                except OSError as error: print("child", error, flush=True)
                os._exit(0)
            socket.send_fds(there, [b"x"], [link.fileno()])
            os.wait()
            """)
        #expect(heard.contains("parent True"), "the control: \(heard)")
        #expect(heard.contains("child ") && !heard.contains("child {"), "\(heard)")
    }

    @Test func `a hard link to an allowed program, or a copy that another user may become, is not the app`()
        async throws
    {
        let hello = """
            link = connect()
            link.sendall(frame(HELLO))
            print(read(link))
            """
        let linked = try await run(hello) { app in
            let other = app + "-linked"
            #expect(link(app, other) == 0)
            return [other, "-I"]
        }
        #expect(linked.contains("brokerDenied") && !linked.contains(#""hello""#), "\(linked)")
        // Set to another user's id the program runs as the owner of its own file.
        let other: uid_t = 64_400
        let changed = try await run(hello) { app in
            #expect(chown(app, other, other) == 0 && chmod(app, 0o4755) == 0)
            return [app, "-I"]
        }
        #expect(changed.contains("own user can change the file") && !changed.contains(#""hello""#), "\(changed)")
    }

    @Test func `a process that ended is not its successor, whatever number that has`() async throws {
        let place = try AllowedCopy()
        defer { place.remove() }
        let script = try place.write(
            """
            import socket, sys
            link = socket.socket(socket.AF_UNIX)
            link.connect(sys.argv[1])
            link.recv(1)
            """, as: "wait.py")
        let path = place.folder.appending(path: "s").path
        let listener = try Listener.make(path)
        defer { close(listener) }
        try #require(chmod(path, 0o666) == 0)
        let running = Task { try await OtherUser.run(["/usr/bin/python3", "-I", script, path]) }
        try await until {
            var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            return poll(&waiting, 1, 0) == 1
        }
        let accepted = accept(listener, nil, nil)
        defer { close(accepted) }
        let credentials = try #require(PeerCredentials(socket: accepted))
        let programs = ListedPrograms(try BrokerStand().configuration)
        let watched = WatchedCaller(credentials, socket: accepted, programs: programs, ownUser: geteuid())
        // Of a program that no entry names the file is not even looked at: it may lie where looking takes for ever.
        #expect(watched.program == nil && watched.isUnchanged)
        #expect(watched.caller(in: programs, ownUser: geteuid()) == .stranger(OtherUser.id))
        #expect(send(accepted, "x", 1, 0) == 1)
        _ = try await running.value
        #expect(!watched.isUnchanged)
    }

    @Test
    func `a request that is nested without end, huge or out of every range is refused or read, and harms nothing`()
        throws
    {
        let deep = String(repeating: "[", count: 30_000)
        let texts = [
            deep, #"{"id":1,"verb":"device.info","x":"# + deep, String(repeating: #"{"a":"#, count: 10_000),
            #"{"id":1e400,"verb":"device.info"}"#, #"{"id":-1,"verb":"device.info"}"#,
            #"{"id":4294967296,"verb":"device.info"}"#, #"{"id":1,"verb":"token.return","request":1e20}"#,
            #"{"id":1,"verb":"cleanup.report","session":18446744073709551616,"stage":"done"}"#,
            "\u{FEFF}[]", "\0", #"{"id":1,"id":2,"verb":"device.info"}"#,
        ]
        for text in texts {
            let payload = Data(text.utf8)
            #expect(payload.count <= BrokerFrame.largestRequest)
            #expect(BrokerParsing.read(payload).fault == nil, "\(text.prefix(60))")
            #expect(BrokerParsing.read(BrokerFrame.encode(payload)).fault == nil, "\(text.prefix(60))")
        }
        let whole = #"{"id":4294967295,"verb":"token.interactive","maximumAge":9223372036854775807,"scopes":["a"]}"#
        #expect(
            BrokerParsing.read(BrokerFrame.encode(Data(whole.utf8))) == BrokerParsing.Outcome(frames: 1, requests: 1))
    }
}

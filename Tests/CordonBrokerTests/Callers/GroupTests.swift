import CordonBase
import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// Apps that are installed with a group of their own, which the kernel fixes when they connect.
@Suite(
    .serialized, .timeLimit(.minutes(10)), .tags(.machineAlone),
    .enabled(if: OtherUser.hasNamespaces, "needs root, setpriv, python3 and user namespaces")
) struct GroupTests {
    /// A group without a name, and so without members.
    private static let group: gid_t = 64_321

    /// Greets by itself, or connects and has a child greet after it became the program that is named.
    private static let script =
        AllowedCopy.frames + """
            link = connect()
            link.sendall(frame(HELLO))
            if len(sys.argv) > 2 and os.fork():
                os.execv(sys.argv[2], [sys.argv[2], "-I", "-c", "import time; time.sleep(60)"])
            try:
                print(read(link), flush=True)
            except OSError as error:
                print(error)
            if len(sys.argv) > 2: os.kill(os.getppid(), 9)
            """

    @Test func `a program with the group is served whatever its file, and no other is, whatever it becomes`()
        async throws
    {
        let place = try AllowedCopy()
        defer { place.remove() }
        let app = try place.install("/usr/bin/python3", as: "notes", group: Self.group)
        let script = try place.write(Self.script, as: "greet.py")
        let stand = try BrokerStand {
            $0.apps = [AllowedApp(name: "notes", path: app, group: "\(Self.group)", clientIDs: ["notes"])]
        }
        try await ServedBroker.serve(stand) { socket, _ in
            let genuine = try await OtherUser.run([app, "-I", script, socket])
            #expect(genuine.contains(#""hello""#), "\(genuine)")
            for other in [["/usr/bin/python3"], ["unshare", "-Ur", app]] {
                let refused = try await OtherUser.run(other + ["-I", script, socket])
                #expect(refused.contains("brokerDenied") && !refused.contains(#""hello""#), "\(refused)")
            }
            let became = try await OtherUser.run(["/usr/bin/python3", "-I", script, socket, app])
            #expect(!became.contains(#""hello""#), "\(became)")
        }
    }

    @Test func `an entry whose group others can have, or whose file does not give it, is no entry`() throws {
        let place = try AllowedCopy()
        defer { place.remove() }
        let app = try place.install("/usr/bin/true", as: "notes", group: Self.group)
        func list(_ group: String, _ path: String) throws -> ListedPrograms {
            var configuration = try BrokerStand().configuration
            configuration.apps = [AllowedApp(name: "x", path: path, group: group, clientIDs: ["x"])]
            return ListedPrograms(configuration)
        }
        let caller = PeerCredentials(process: getpid(), user: OtherUser.id, group: Self.group)
        let listed = try list("\(Self.group)", app)
        #expect(listed.groups(of: caller) { [] } == ["\(Self.group)"] && listed.mistakes.isEmpty)
        #expect(listed.groups(of: PeerCredentials(process: getpid(), user: OtherUser.id, group: 5)) { [] }.isEmpty)
        #expect(!listed.needsPrograms)
        // Who owns the file may change it.
        #expect(listed.groups(of: PeerCredentials(process: getpid(), user: 0, group: Self.group)) { [] }.isEmpty)
        for name in ["0", "root", "no such group"] {
            #expect(try list(name, app).mistakes.map(\.objection) == [.openGroup], "\(name)")
        }
        // The login group of the user is in every program's hands.
        let login = try #require(SystemGroup.primary(of: OtherUser.id))
        try #require(chown(app, 0, login) == 0 && chmod(app, 0o2755) == 0)
        let own = PeerCredentials(process: getpid(), user: OtherUser.id, group: login)
        #expect(try list("\(login)", app).groups(of: own) { [] }.isEmpty)
        for mode in [mode_t(0o755), 0o2745] {
            try #require(chown(app, 0, Self.group) == 0 && chmod(app, mode) == 0)
            #expect(listed.groups(of: caller) { [] }.isEmpty)
            #expect(listed.mistakes.map(\.objection) == [.withoutGroup], "\(mode)")
        }
        let members = SystemGroup(number: 7, members: ["ada"])
        #expect(
            SystemGroup("\(Self.group)") == SystemGroup(number: Self.group, members: []) && !members.members.isEmpty)
    }

    @Test func `a group that is opened, closed or made while the broker runs counts as it is at each connect`() throws {
        let place = try AllowedCopy()
        defer { place.remove() }
        let app = try place.install("/usr/bin/true", as: "notes", group: Self.group)
        var configuration = try BrokerStand().configuration
        configuration.apps = [AllowedApp(name: "x", path: app, group: "notes-app", clientIDs: ["x"])]
        let system = Locked<SystemGroup?>(nil)
        let listed = ListedPrograms(
            configuration,
            groups: ListedGroups(["notes-app"], lookingAgainAfter: .zero) { _ in system.withLock { $0 } })
        let caller = PeerCredentials(process: getpid(), user: OtherUser.id, group: Self.group)
        #expect(listed.groups(of: caller) { [] }.isEmpty && listed.mistakes.map(\.objection) == [.openGroup])
        system.withLock { $0 = SystemGroup(number: Self.group, members: []) }
        #expect(listed.groups(of: caller) { [] } == ["notes-app"] && listed.mistakes.isEmpty)
        system.withLock { $0 = SystemGroup(number: Self.group, members: ["ward"]) }
        #expect(listed.groups(of: caller) { [] }.isEmpty && listed.mistakes.map(\.objection) == [.openGroup])
        system.withLock { $0 = nil }
        #expect(listed.groups(of: caller) { [] }.isEmpty)
    }

    /// Takes a group in a namespace of users, as `newgidmap` lets a user whom `/etc/subgid` names, and connects.
    private static let taking = """
        import ctypes, os, socket, sys
        path, user, group = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
        libc = ctypes.CDLL(None, use_errno=True)
        (made, say_made), (mapped, say_mapped) = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            os.setgroups([]), os.setresgid(user, user, user), os.setresuid(user, user, user)
            if libc.unshare(0x10000000): os._exit(1)
            os.write(say_made, b"x"), os.read(mapped, 1)
            os.setresgid(1, 1, 1)
            link = socket.socket(socket.AF_UNIX)
            link.connect(path)
            link.recv(1)
            os._exit(0)
        os.read(made, 1)
        for kind, rest in ("uid", ""), ("gid", f"\\n1 {group} 1"):
            with open(f"/proc/{child}/{kind}_map", "w") as map: map.write(f"0 {user} 1{rest}")
        os.write(say_mapped, b"x")
        os.waitpid(child, 0)
        """

    @Test func `a group that a user may take in a namespace is no app's`() async throws {
        let place = try AllowedCopy()
        defer { place.remove() }
        let app = try place.install("/usr/bin/true", as: "notes", group: Self.group)
        let script = try place.write(Self.taking, as: "take.py")
        let path = place.folder.appending(path: "s").path
        let listener = try Listener.make(path)
        defer { close(listener) }
        try #require(chmod(path, 0o666) == 0)
        let running = Task {
            try await Program.run("/usr/bin/python3", ["-I", script, path, "\(OtherUser.id)", "\(Self.group)"])
        }
        try await until {
            var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            return poll(&waiting, 1, 0) == 1
        }
        let accepted = accept(listener, nil, nil)
        defer { close(accepted) }
        let taken = try #require(PeerCredentials(socket: accepted))
        #expect(taken.user == OtherUser.id && taken.group == Self.group, "the kernel says nothing of the namespace")

        var configuration = try BrokerStand().configuration
        configuration.apps = [AllowedApp(name: "x", path: app, group: "\(Self.group)", clientIDs: ["x"])]
        func list(_ delegated: String) -> ListedPrograms {
            ListedPrograms(configuration, delegated: { DelegatedGroups(delegated) })
        }
        let others = "ada:100000:65536\nward:\(Self.group + 1):9\n"
        #expect(list(others).groups(of: taken) { [] } == ["\(Self.group)"], "the control: nothing else tells it apart")
        let open = list(others + "ward:\(Self.group - 8):9\n")
        #expect(open.groups(of: taken) { [] }.isEmpty)
        #expect(open.mistakes.map(\.objection) == [.delegatedGroup])
        #expect(send(accepted, "x", 1, 0) == 1)
        _ = try await running.value
    }

    @Test func `a list of groups that users may take is read to its last line, whatever else it holds`() throws {
        let flawed = ["# note", "", "ada:5", "ada:x:9", "ada:7:0", "ada:-1:9", "ada:10:2:3"]
        let odd = DelegatedGroups((flawed + ["ward:20:5", "ward:30:\(UInt64.max)"]).joined(separator: "\n"))
        #expect([5, 7, 9, 10, 19, 25, 29].allSatisfy { !odd.contains($0) })
        #expect([20, 24, 30, .max].allSatisfy { odd.contains($0) })
        let file = TemporaryFolder.newPath()
        #expect(!DelegatedGroups.now(file.path).contains(1), "no list")
        try Data().write(to: file)
        #expect(!DelegatedGroups.now(file.path).contains(1), "an empty list")
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(DelegatedGroups.now(file.path).contains(1), "one that cannot be read may name every group")
    }

    @Test func `programs that connect without end cost no look at the groups each`() {
        let looks = Locked(0)
        let groups = ListedGroups(["a", "a", "b"], lookingAgainAfter: .seconds(3_600)) { name in
            looks.withLock { $0 += 1 }
            return SystemGroup(number: name == "a" ? 1 : 2, members: [])
        }
        #expect((0..<100).allSatisfy { _ in groups.mayInclude(1) && groups.mayInclude(2) && !groups.mayInclude(3) })
        #expect(looks.withLock { $0 } == 2)
    }

    @Test(arguments: [
        ("snap.notes.notes (enforce)\n", "snap.notes.notes"), ("snap.notes.notes (complain)", nil),
        ("system_u:system_r:notes_t:s0\0", "system_u:system_r:notes_t:s0"), ("unconfined", "unconfined"), ("", nil),
        ("a (b) (enforce)", "a (b)"),
    ])
    func `a label is read as the kernel gives it, and one that is not enforced is none`(text: String, label: String?) {
        #expect(PeerCredentials.label(in: Array(text.utf8)[...]) == label)
    }
}

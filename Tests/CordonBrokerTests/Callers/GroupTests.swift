import CordonBase
import CordonIdentity
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// Apps that are installed with a group of their own, which the kernel fixes when they connect.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
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

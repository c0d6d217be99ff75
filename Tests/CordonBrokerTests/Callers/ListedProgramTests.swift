import CordonBase
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// Which file at a listed path the broker takes for the app, and what it reads of it.
@Suite(.tags(.machineAlone)) struct ListedProgramTests {
    private let own: ProgramIdentity
    private let path: String

    init() throws {
        own = try #require(ProgramIdentity.now(getpid()))
        path = try #require(ProgramIdentity.path(of: getpid()))
    }

    private func list(
        _ path: String, digest: String? = nil, isDevelopment: Bool = false
    ) throws -> ListedPrograms {
        var configuration = try BrokerStand().configuration
        configuration.isDevelopment = isDevelopment
        configuration.apps = [AllowedApp(name: "x", path: path, sha256: digest, clientIDs: ["x"])]
        return ListedPrograms(configuration)
    }

    /// This process, as if another user had started it.
    private static func caller(_ user: UInt32 = 4_242, group: UInt32 = 4_242) -> PeerCredentials {
        PeerCredentials(process: getpid(), user: user, group: group)
    }

    /// A folder that only its owner may write to, for as long as the work lasts.
    private func inFolder(_ work: (URL) throws -> Void) throws {
        let folder = TemporaryFolder.newPath()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(at: folder) }
        try work(folder)
    }

    @Test func `only the very file at the listed path is the app, and no link leads to it`() throws {
        #expect(try list(path, isDevelopment: true).objection(to: own, at: path, of: Self.caller()) { [] } == nil)
        try inFolder { folder in
            let link = folder.appending(path: "link").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
            #expect(try list(link).objection(to: own, at: link, of: Self.caller()) { [] } == .link)
            let way = folder.appending(path: "way")
            try FileManager.default.createSymbolicLink(
                at: way, withDestinationURL: URL(filePath: path).deletingLastPathComponent())
            let over = way.appending(path: URL(filePath: path).lastPathComponent).path
            #expect(try list(over).objection(to: own, at: over, of: Self.caller()) { [] } == .link)
            // A slash and an accent behind it are one character of the text, and a step of the path all the same.
            let accented = way.path + "/\u{301}app"
            #expect(try list(accented).objection(to: own, at: accented, of: Self.caller()) { [] } == .link)
            let missing = folder.appending(path: "missing").path
            #expect(try list(missing).objection(to: own, at: missing, of: Self.caller()) { [] } == .missing)
            #expect(try list(folder.path).objection(to: own, at: folder.path, of: Self.caller()) { [] } == .noFile)
            let other = folder.appending(path: "other").path
            try Data("x".utf8).write(to: URL(filePath: other))
            #expect(try list(other).objection(to: own, at: other, of: Self.caller()) { [] } == .anotherFile)
            #expect(
                try list(link).objection(to: own, at: other, of: Self.caller()) { [] } == nil,
                "the list decides by path")
            #expect(try list(link).mistakes.map(\.objection) == [.link])
            #expect(try list(missing).mistakes.isEmpty)
        }
    }

    @Test func `a file that its caller can change, or whose folder they can, is not the app`() throws {
        try inFolder { folder in
            let file = folder.appending(path: "app").path
            try Data("x".utf8).write(to: URL(filePath: file))
            let group = try #require(
                FileManager.default.attributesOfItem(atPath: file)[.groupOwnerAccountID] as? NSNumber
            ).uint32Value
            /// Whether the file may be changed by a user, as the broker sees it.
            func isChangeable(_ user: UInt32 = 4_242, in groups: Set<UInt32>? = []) throws -> Bool {
                let found = try list(file).objection(to: own, at: file, of: Self.caller(user)) { groups }
                #expect(found == .changeable || found == .anotherFile)
                return found == .changeable
            }
            #expect(chmod(file, 0o755) == 0)
            #expect(try !isChangeable() && !isChangeable(in: [group]))
            #expect(try isChangeable(geteuid()))
            for (mode, byMember, byOther) in [(mode_t(0o775), true, false), (0o757, true, true), (0o555, false, false)]
            {
                for place in [file, folder.path] {
                    #expect(chmod(place, mode) == 0)
                    #expect(try isChangeable(in: [group]) == byMember, "\(place) \(mode)")
                    #expect(try isChangeable(in: nil) == byMember, "groups that are not known")
                    #expect(try isChangeable() == byOther, "\(place) \(mode)")
                    #expect(chmod(place, 0o755) == 0)
                }
            }
            // A user cannot take another user's file out of a folder like /tmp.
            #expect(chmod(folder.path, 0o1777) == 0)
            #expect(try !isChangeable(in: [group]))
            #expect(chmod(folder.path, 0o777) == 0)
            #expect(try list(file).mistakes.map(\.objection) == [.changeable])
        }
    }

    @Test(.enabled(if: Program.python != nil, "needs python3"))
    func `a file whose access list names others is not the app where they may write`() throws {
        let folder = TemporaryFolder.newPath()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "app").path
        try Data("x".utf8).write(to: URL(filePath: file))
        func objection() throws -> ProgramObjection? {
            try list(file).objection(to: own, at: file, of: Self.caller()) { [] }
        }
        for (place, control) in [(file, mode_t(0o775)), (folder.path, 0o775)] {
            try #require(chmod(place, control) == 0)
            #expect(try objection() == .anotherFile, "the control: a group that the caller is not in")
            // Owner rwx, user 4242 rwx, group r-x, the most rwx, others r-x, as the kernel keeps them.
            let set = """
                import os, struct, sys
                none = 0xffffffff
                entries = [(1, 7, none), (2, 7, 4242), (4, 5, none), (16, 7, none), (32, 5, none)]
                text = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
                os.setxattr(sys.argv[1], "system.posix_acl_access", text)
                """
            let made = try Program.runPython(["-c", set, place])
            try #require(made.status == 0, "\(made.everything)")
            #expect(try objection() == .changeable, "\(place)")
            try #require(chmod(place, 0o755) == 0)
        }
    }

    @Test func `a Snap's entry means the file of the revision in force, and no other`() throws {
        try inFolder { root in
            let snap = root.appending(path: "notes")
            for revision in ["11", "12"] {
                let bin = snap.appending(path: "\(revision)/bin")
                try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
                try Data("x".utf8).write(to: bin.appending(path: "notes"))
            }
            // A revision whose file is this very program, where a hard link can be made to it.
            let third = snap.appending(path: "13/bin").path
            try FileManager.default.createDirectory(atPath: third, withIntermediateDirectories: true)
            let isSame = link(path, third + "/notes") == 0
            func setCurrent(_ revision: String) throws {
                unlink(snap.path + "/current")
                try #require(symlink(revision, snap.path + "/current") == 0)
            }
            let entry = snap.path + "/current/bin/notes"
            var configuration = try BrokerStand().configuration
            configuration.isDevelopment = true
            configuration.apps = [AllowedApp(name: "x", path: entry, clientIDs: ["x"])]
            let programs = ListedPrograms(configuration, snapRoots: [root.path])
            try setCurrent("12")
            #expect(programs.listedPath(of: snap.path + "/12/bin/notes") == entry)
            for other in ["/11/bin/notes", "/12/bin/other", "/12", "/current/bin/notes/x"] {
                #expect(programs.listedPath(of: snap.path + other) == snap.path + other)
            }
            #expect(programs.mistakes.isEmpty)
            #expect(programs.objection(to: own, at: entry, of: Self.caller()) { [] } == .anotherFile)
            if isSame {
                try setCurrent("13")
                #expect(programs.objection(to: own, at: entry, of: Self.caller()) { [] } == nil)
            }
            // A link that leads elsewhere, as only the system's administrator could make it, is as any other link.
            for elsewhere in ["..", "/", "../notes/12"] {
                try setCurrent(elsewhere)
                #expect(programs.listedPath(of: snap.path + "/12/bin/notes") != entry)
                #expect(programs.objection(to: own, at: entry, of: Self.caller()) { [] } == .link)
            }
            #expect(programs.mistakes.map(\.objection) == [.link])
        }
    }

    @Test func `a digest is computed of the app's own file only, and of none beyond the limit`() async throws {
        let (one, other) = try socketPair()
        defer {
            close(one)
            close(other)
        }
        let credentials = try #require(PeerCredentials(socket: one))
        let digest = String(repeating: "a", count: 64)
        let all = ProgramDigests(largest: .max)
        func caller(_ path: String, _ digest: String?, _ digests: ProgramDigests) async throws -> BrokerCaller {
            let list = try list(path, digest: digest, isDevelopment: true)
            let watched = WatchedCaller(credentials, socket: one, programs: list, ownUser: getuid())
            return await watched.caller(digests)
        }
        let listed = try await caller(path, digest, all)
        #expect(listed.objection == nil)
        #expect(listed.digest.count == 64)
        #expect(listed.path == path)
        #expect(try await caller(path, nil, all).digest.isEmpty)
        #expect(try await caller("/apps/x", digest, all).digest.isEmpty)
        let small = try await caller(path, digest, ProgramDigests(largest: own.file.size - 1))
        #expect(small.digest.isEmpty && small.objection == .tooLarge)
    }

    private func socketPair() throws -> (Int32, Int32) {
        var pair: [Int32] = [-1, -1]
        #if canImport(Darwin)
            let kind = SOCK_STREAM
        #else
            let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let made = socketpair(AF_UNIX, kind, 0, &pair)
        try #require(made == 0)
        return (pair[0], pair[1])
    }
}

import CordonBase
import CordonTestSupport
import Foundation
import Testing

struct DurableFileTests {
    private let folder: URL

    init() throws {
        folder = TemporaryFolder.newPath()
        try DurableFile.makePrivateFolder(folder)
    }

    private func clean() { try? FileManager.default.removeItem(at: folder) }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test func `a file is replaced as a whole, and only its owner can read it`() throws {
        defer { clean() }
        let file = folder.appending(path: "a")
        try DurableFile.replace(file, with: Data("old".utf8))
        try DurableFile.replace(file, with: Data("new".utf8))
        #expect(try DurableFile.read(file, limit: 3) == Data("new".utf8))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try names == ["a"])
    }

    @Test func `what is no file is told apart, also behind a link`() throws {
        defer { clean() }
        let (file, pipe, link) = (folder.appending(path: "a"), folder.appending(path: "b"), folder.appending(path: "c"))
        #expect(!DurableFile.isOtherThanFile(file))
        try DurableFile.replace(file, with: Data("new".utf8))
        #expect(mkfifo(pipe.path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: pipe)
        #expect(!DurableFile.isOtherThanFile(file))
        for other in [pipe, link, folder, URL(filePath: "/dev/null")] { #expect(DurableFile.isOtherThanFile(other)) }
    }

    @Test func `a file of several mebibytes is written whole, from pieces of any length`() throws {
        defer { clean() }
        let file = folder.appending(path: "large")
        let pattern = Data((0..<4_093).map { UInt8($0 % 251) })
        let pieces = [5 << 20, 0, 1, (2 << 20) + 1].map { count in
            var piece = Data()
            while piece.count < count { piece.append(pattern) }
            return piece.prefix(count)
        }
        let draft = try DurableFile.draft(of: file, pieces)
        #expect(try Data(contentsOf: draft) == pieces.reduce(Data(), +))
    }

    @Test func `a folder is made with what lies above it, once, and never in place of a file`() throws {
        defer { clean() }
        let deep = folder.appending(path: "a/b/c")
        for _ in 0..<2 { try DurableFile.makeFolder(deep) }
        for place in [deep, deep.deletingLastPathComponent()] {
            #expect(try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] as? Int == 0o700)
        }
        try Data().write(to: deep.appending(path: "file"))
        #expect(throws: FileFailure(ENOTDIR)) { try DurableFile.makeFolder(deep.appending(path: "file")) }
        #expect(throws: FileFailure(ENOTDIR)) { try DurableFile.makeFolder(deep.appending(path: "file/under")) }
    }

    @Test(.enabled(if: geteuid() != 0, "root reads every folder"))
    func `a folder whose name cannot be made durable is taken back`() throws {
        let closed = folder.appending(path: "closed")
        // Nothing removes what cannot be listed.
        defer {
            chmod(closed.path, 0o700)
            clean()
        }
        try FileManager.default.createDirectory(
            at: closed, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o300])
        #expect(throws: FileFailure(EACCES)) { try DurableFile.makeFolder(closed.appending(path: "new")) }
        #expect(!FileManager.default.fileExists(atPath: closed.appending(path: "new").path))
    }

    @Test func `what cannot be written leaves the old file and no draft`() throws {
        defer { clean() }
        let file = folder.appending(path: "a")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try Data().write(to: file.appending(path: "inside"))
        #expect(throws: FileFailure.self) { try DurableFile.replace(file, with: Data("new".utf8)) }
        #expect(try names == ["a"])
    }

    @Test func `a file above the limit is neither empty nor absent`() throws {
        defer { clean() }
        let file = folder.appending(path: "a")
        try DurableFile.replace(file, with: Data("four".utf8))
        #expect(throws: FileFailure(EFBIG)) { try DurableFile.read(file, limit: 3) }
        #expect(try DurableFile.head(of: file, 2) == Data("fo".utf8))
        #expect(try DurableFile.read(folder.appending(path: "none"), limit: 3) == nil)
    }

    @Test func `nothing is read, written or overwritten through a link at the file's name`() throws {
        defer { clean() }
        let (victim, link) = (folder.appending(path: "victim"), folder.appending(path: "link"))
        try Data("keep".utf8).write(to: victim)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: victim)
        #expect(throws: FileFailure(ELOOP)) { try DurableFile.read(link, limit: 10) }
        #expect(throws: FileFailure(ELOOP)) {
            try DurableFile.replace(folder.appending(path: "b"), with: Data("x".utf8), by: link)
        }
        #expect(!DurableFile.overwrite(link))
        #expect(try Data(contentsOf: victim) == Data("keep".utf8))
        try DurableFile.replace(link, with: Data("own".utf8))
        #expect(try Data(contentsOf: victim) == Data("keep".utf8))
        #expect(try DurableFile.read(link, limit: 10) == Data("own".utf8))
    }

    @Test func `a file that has another name too is neither overwritten nor appended to, nor used as a draft`() throws {
        defer { clean() }
        let (victim, name) = (folder.appending(path: "victim"), folder.appending(path: "name"))
        try Data("keep".utf8).write(to: victim)
        try FileManager.default.linkItem(at: victim, to: name)
        #expect(!DurableFile.overwrite(name) && !DurableFile.overwrite(name, secretLimit: 3))
        #expect(throws: FileFailure(EINVAL)) { _ = try DurableFile.openForAppending(name) }
        #expect(throws: FileFailure(EINVAL)) {
            try DurableFile.replace(folder.appending(path: "b"), with: Data("x".utf8), by: name)
        }
        #expect(try Data(contentsOf: victim) == Data("keep".utf8))
        try FileManager.default.removeItem(at: name)
        #expect(mkfifo(name.path, 0o600) == 0)
        #expect(throws: FileFailure.self) { _ = try DurableFile.openForAppending(name) }
        #expect(throws: FileFailure.self) {
            try DurableFile.replace(folder.appending(path: "b"), with: Data("x".utf8), by: name)
        }
        #expect(try DurableFile.overwrite(victim) && Data(contentsOf: victim) == Data(count: 4), "its only name")
    }

    @Test
    func `lines are appended whole: half a one before them is ended, and what the disk does not take leaves none`()
        async throws
    {
        defer { clean() }
        let file = folder.appending(path: "a")
        try Data("half".utf8).write(to: file)
        for line in ["first\n", "second\nthird\n"] {
            let descriptor = try DurableFile.openForAppending(file)
            defer { close(descriptor) }
            #expect(DurableFile.append(Data(line.utf8), to: descriptor))
        }
        #expect(try Data(contentsOf: file) == Data("half\nfirst\nsecond\nthird\n".utf8))
        // In a process of its own: the limit is the process's.
        await #expect(processExitsWith: .success) {
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            let descriptor = try DurableFile.openForAppending(file)
            defer { close(descriptor) }
            try #require(DurableFile.append(Data("first\n".utf8), to: descriptor))
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            limit.rlim_cur = 10
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            try #require(!DurableFile.append(Data("second\n".utf8), to: descriptor))
            try #require(try Data(contentsOf: file) == Data("first\n".utf8))
        }
    }

    @Test func `the end of a file is read without the rest, and a file that is too long is not read at all`() throws {
        defer { clean() }
        let file = folder.appending(path: "a")
        try DurableFile.replace(file, with: Data("first\nsecond\n".utf8))
        let end = try DurableFile.tail(of: file, 7)
        #expect(end.bytes == Data("second\n".utf8) && !end.isWhole)
        let all = try DurableFile.tail(of: file, 100)
        #expect(all.bytes == Data("first\nsecond\n".utf8) && all.isWhole)
        #expect(try DurableFile.tail(of: folder.appending(path: "none"), 7).bytes.isEmpty)
        // A terabyte that takes no space.
        #expect(truncate(file.path, 1 << 40) == 0)
        #expect(throws: FileFailure(EFBIG)) { try DurableFile.read(file, limit: 1 << 39) }
        #expect(try DurableFile.tail(of: file, 3).bytes == Data(count: 3))
    }

    @Test func `overwriting leaves nothing of the bytes, and removing a missing file is no error`() throws {
        defer { clean() }
        let file = folder.appending(path: "a")
        try DurableFile.replace(file, with: Data("secret".utf8))
        #expect(DurableFile.overwrite(file))
        #expect(try DurableFile.read(file, limit: 10) == Data(count: 6))
        try DurableFile.remove(file)
        try DurableFile.remove(file)
        #expect(try names == [] && DurableFile.overwrite(file))
        // Of one that is too large to be overwritten, something is left.
        try DurableFile.replace(file, with: Data(count: 1 << 20) + Data("secret".utf8))
        #expect(!DurableFile.overwrite(file))
    }

    @Test func `a folder that others can write into is refused`() throws {
        defer { clean() }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        #expect(throws: FileFailure(EPERM)) { try DurableFile.makePrivateFolder(folder) }
    }
}

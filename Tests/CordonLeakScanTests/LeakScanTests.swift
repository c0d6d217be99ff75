import CordonLeakScan
import CordonTestSupport
import Foundation
import Testing

struct LeakScanTests {
    private func inFolder(_ work: (URL) throws -> Void) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        try work(folder)
    }

    @Test func `every text is found wherever it stands, in binary files too, and counted once`() throws {
        try inFolder { folder in
            let scan = LeakScan(count: 50, seed: 1)
            var bytes = Data([0xFF, 0x00])
            for text in scan.texts { bytes += Data(text.utf8) + Data([0x00, 0x41]) }
            try bytes.write(to: folder.appending(path: "a"))
            try FileManager.default.createDirectory(
                at: folder.appending(path: "deep"), withIntermediateDirectories: true)
            try Data(("f" + scan.texts[0] + "0").utf8).write(to: folder.appending(path: "deep/b"))
            let leaks = try scan.leaks(below: folder)
            #expect(leaks.texts == 50)
            #expect(leaks.files == 2)
            #expect(leaks.places.last == .init(index: 0, form: .plain, place: folder.path + "/deep/b"))
        }
    }

    @Test(arguments: Leaks.Form.allCases, [0, 1, 2])
    func `a text is found in every form, whatever stands before it`(_ form: Leaks.Form, _ before: Int) throws {
        try inFolder { folder in
            let text = "Müller: 4711 schedule?>"
            let scan = try #require(LeakScan(texts: [text]))
            let whole = String(repeating: "x", count: before) + text + "the rest"
            let written =
                switch form {
                case .plain: Data(whole.utf8)
                case .utf16: try #require(whole.data(using: .utf16LittleEndian))
                case .hexadecimal:
                    Data(whole.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined().utf8)
                case .base64: Data(Data(whole.utf8).base64EncodedString().utf8)
                }
            try written.write(to: folder.appending(path: "a"))
            let leaks = try scan.leaks(below: folder)
            #expect(leaks.places == [.init(index: 0, form: form, place: folder.path + "/a")])
        }
    }

    @Test func `a text is found across the parts in which a large file is read`() throws {
        try inFolder { folder in
            let scan = LeakScan(count: 1, seed: 9)
            for missing in [1, 16, 31] {
                let bytes = Data(repeating: 0x20, count: (1 << 20) - missing) + Data(scan.texts[0].utf8)
                try bytes.write(to: folder.appending(path: "large"))
                #expect(try scan.leaks(below: folder).texts == 1)
            }
        }
    }

    @Test func `a name of a file or a folder is a leak too`() throws {
        try inFolder { folder in
            let scan = LeakScan(count: 1, seed: 2)
            let inside = folder.appending(path: "for-\(scan.texts[0])")
            try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: true)
            try Data().write(to: inside.appending(path: "empty"))
            #expect(try scan.leaks(below: folder).texts == 1)
            // What the folder itself is called says nothing of what is in it.
            #expect(try scan.leaks(below: inside).texts == 0)
        }
    }

    @Test func `the name of an empty folder, of a link or of a pipe is a leak, whatever letters its path has`() throws {
        try inFolder { folder in
            let (scan, deep) = (LeakScan(count: 3, seed: 2), folder.appending(path: "Zoë-ü"))
            let places = scan.texts.map { deep.appending(path: $0) }
            try FileManager.default.createDirectory(at: places[0], withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(at: places[1], withDestinationURL: folder)
            try #require(mkfifo(places[2].path, 0o600) == 0)
            let leaks = try scan.leaks(below: deep)
            #expect(leaks.texts == 3 && leaks.files == 0)
            #expect(Set(leaks.places.map(\.place)) == Set(places.map(\.path)))
        }
    }

    @Test func `the place that a link leads to is a leak`() throws {
        try inFolder { folder in
            let scan = LeakScan(count: 1, seed: 2)
            let link = folder.appending(path: "link").path
            try FileManager.default.createSymbolicLink(
                atPath: link, withDestinationPath: "/of/\(scan.texts[0])/nowhere")
            #expect(try scan.leaks(below: folder).places == [.init(index: 0, form: .plain, place: link)])
        }
    }

    @Test func `where a link leads is read though it is not UTF-8`() throws {
        try inFolder { folder in
            let (scan, link) = (LeakScan(count: 1, seed: 1), "\(folder.path)/link")
            let target = "/of/\(scan.texts[0])/".utf8CString.dropLast() + [CChar(bitPattern: 0xFF), 0]
            try #require(symlink(Array(target), link) == 0)
            #expect(try scan.leaks(below: folder).texts == 1)
        }
    }

    @Test(.enabled(if: getuid() != 0, "root lists any folder"))
    func `a folder below that cannot be listed is an error, and not empty`() throws {
        try inFolder { folder in
            let closed = folder.appending(path: "closed")
            try FileManager.default.createDirectory(at: closed, withIntermediateDirectories: false)
            try #require(chmod(closed.path, 0) == 0)
            defer { chmod(closed.path, 0o700) }
            #expect(throws: CocoaError.self) { try LeakScan(count: 1, seed: 1).leaks(below: folder) }
        }
    }

    @Test(arguments: [0o600, 0o700] as [mode_t])
    func `what may not be looked at or opened is an error, and not passed over`(mode: mode_t) async throws {
        // Root may look at and open anything, and not every root may become another.
        await #expect(processExitsWith: .success) { [mode = mode as mode_t] in
            guard getuid() != 0 || setuid(65_534) == 0 else { return }
            let folder = URL(fileURLWithPath: "/tmp/\(UUID().uuidString)", isDirectory: true)
            let inside = folder.appending(path: "inside")
            try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: true)
            defer {
                chmod(inside.path, 0o700)
                try? FileManager.default.removeItem(at: folder)
            }
            let (scan, file) = (LeakScan(count: 1, seed: 1), inside.appending(path: "a"))
            try Data(scan.texts[0].utf8).write(to: file)
            #expect(try scan.leaks(below: folder).texts == 1, "the control")
            try #require(chmod(file.path, 0) == 0 && chmod(inside.path, mode) == 0)
            #expect(throws: CocoaError.self) { try scan.leaks(below: folder) }
        }
    }

    #if os(Linux)
        @Test func `what has a name that is not UTF-8 is an error, and not passed over`() throws {
            try inFolder { folder in
                let (scan, file) = (LeakScan(count: 1, seed: 1), folder.appending(path: "a"))
                try Data(scan.texts[0].utf8).write(to: file)
                #expect(rename(file.path, Array(file.path.utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]) == 0)
                #expect(throws: CocoaError.self) { try scan.leaks(below: folder) }
            }
        }
    #endif

    @Test func `a text with one character changed is not found, and a missing folder has no leaks`() throws {
        try inFolder { folder in
            let scan = LeakScan(count: 1, seed: 1)
            let changed = scan.texts[0].dropLast() + (scan.texts[0].last == "0" ? "1" : "0")
            try Data(changed.utf8).write(to: folder.appending(path: "a"))
            #expect(try scan.leaks(below: folder).places == [])
            #expect(try scan.leaks(below: folder.appending(path: "none")) == Leaks())
        }
    }

    @Test func `a seed makes the same texts, another seed others, and none twice`() {
        #expect(LeakScan(count: 1_000, seed: 5).texts == LeakScan(count: 1_000, seed: 5).texts)
        #expect(Set(LeakScan(count: 1_000, seed: 5).texts).count == 1_000)
        #expect(Set(LeakScan(count: 9, seed: 5).texts).isDisjoint(with: LeakScan(count: 9, seed: 6).texts))
    }

    @Test func `a text that would be found by chance is refused`() {
        #expect(LeakScan(texts: ["seven 7"]) == nil)
        #expect(LeakScan(values: [Data(count: 32), Data([1, 2])]) == nil)
        #expect(LeakScan(texts: ["eight 88"]) != nil)
    }

    @Test
    func `a text that is long enough in UTF-8 and not in UTF-16 is refused, and one of four such letters is found`()
        throws
    {
        #expect(LeakScan(texts: ["日本語"]) == nil)
        #expect(LeakScan(values: [Data("日本語".utf8)]) == nil)
        try inFolder { folder in
            let scan = try #require(LeakScan(texts: ["山田太郎"]))
            try #require("様: 山田太郎".data(using: .utf16LittleEndian)).write(to: folder.appending(path: "a"))
            #expect(try scan.leaks(below: folder).places.map(\.form) == [.utf16])
        }
    }

    #if os(Linux)
        @Test func `the memory of another process holds what it was told, and nothing of what it was not`() throws {
            let scan = LeakScan(count: 2, seed: 4)
            let shell = Process()
            let (input, output) = (Pipe(), Pipe())
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = ["-c", "read text; echo ready; read end"]
            (shell.standardInput, shell.standardOutput) = (input, output)
            try shell.run()
            defer {
                try? input.fileHandleForWriting.close()
                shell.waitUntilExit()
            }
            try input.fileHandleForWriting.write(contentsOf: Data((scan.texts[1] + "\n").utf8))
            #expect(output.fileHandleForReading.availableData == Data("ready\n".utf8))
            let leaks = try scan.leaks(inProcess: shell.processIdentifier)
            #expect(Set(leaks.places.map(\.index)) == [1])
            #expect(throws: CocoaError.self) { try scan.leaks(inProcess: ProcessInfo.processInfo.processIdentifier) }
            #expect(throws: CocoaError.self) { try scan.leaks(inProcess: -1) }
        }
    #endif
}

import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: Program.python != nil, "needs python3"))
struct ZipArchiveTests {
    /// An archive that Python's `zipfile` makes: `z` is open for writing, `put` writes an entry with a mode.
    static func archive(_ script: String, in scratch: Scratch) throws -> Data {
        let file = scratch.folder.appendingPathComponent("made.zip")
        let head = """
            import sys, zipfile, struct
            z = zipfile.ZipFile(sys.argv[1], 'w')
            def put(name, data=b'', mode=0o100644, packed=True, flag=0):
                i = zipfile.ZipInfo(name, (2024, 5, 6, 7, 8, 10)); i.external_attr = mode << 16; i.create_system = 3
                i.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
                z.writestr(i, data)

            """
        _ = try Program.python(head + script + "\nz.close()\n", [file.path])
        return try Data(contentsOf: file)
    }

    private func content(_ archive: ZipArchive, _ name: String) throws -> Data {
        let entry = try #require(archive.entries.first { $0.name == name })
        var bytes = Data()
        try archive.unpack(entry) { piece throws(AppToolsError) in bytes += piece }
        return bytes
    }

    @Test func `an archive is read as another program wrote it`() throws {
        let scratch = try Scratch()
        let data = try Self.archive(
            """
            put('Payload/', mode=0o40755)
            put('Payload/stored', b'plain', packed=False)
            put('Payload/packed', b'a' * 3000000)
            put('Payload/Größe', 'ü'.encode())
            put('Payload/run', b'#!', mode=0o100755)
            put('Payload/link', b'packed', mode=0o120755)
            with z.open(zipfile.ZipInfo('Payload/streamed'), 'w', force_zip64=True) as f: f.write(b'x' * 70000)
            """, in: scratch)
        let archive = try ZipArchive(data)
        #expect(
            archive.entries.map(\.name)
                == [
                    "Payload/", "Payload/stored", "Payload/packed", "Payload/Größe", "Payload/run", "Payload/link",
                    "Payload/streamed",
                ])
        #expect(archive.entries.map(\.kind) == [.folder, .file, .file, .file, .file, .link, .file])
        #expect(archive.entries[4].permissions == 0o755)
        #expect(try content(archive, "Payload/stored") == Data("plain".utf8))
        #expect(try content(archive, "Payload/packed") == Data(repeating: UInt8(ascii: "a"), count: 3_000_000))
        #expect(try content(archive, "Payload/Größe") == Data("ü".utf8))
        #expect(try content(archive, "Payload/streamed").count == 70000)
    }

    @Test func `an archive with 64-bit numbers is read`() throws {
        let scratch = try Scratch()
        // As a program writes it that does not know beforehand how large it gets.
        let data = try Self.archive("zipfile.ZIP64_LIMIT = 10; put('a', b'b' * 100); put('c', b'd' * 100)", in: scratch)
        let archive = try ZipArchive(data)
        #expect(data.firstRange(of: Data([0x50, 0x4B, 6, 6])) != nil)
        #expect(try content(archive, "c") == Data(repeating: UInt8(ascii: "d"), count: 100))
        // In the shorter end record the count of this part alone, then both counts, the size and the place.
        for (places, code) in [
            ([8], AppToolsError.Code.unsupported), ([8, 10], .refused), ([12], .refused), ([16], .refused),
        ] {
            var bad = data
            for place in places { bad[bad.count - 22 + place] ^= 1 }
            #expect(throws: AppToolsError(code, ""), "\(places)") { try ZipArchive(bad) }
        }
        var writer = ZipWriter(archive)
        for (entry, extent) in zip(archive.entries, archive.extents) { try writer.keep(entry, extent) }
        let again = try ZipArchive(writer.finished().reduce(Data(), +))
        #expect(try content(again, "a") == Data(repeating: UInt8(ascii: "b"), count: 100))
    }

    @Test(arguments: [
        "put('../x', b'1')", "put('/x', b'1')", "put('a/../../x', b'1')", "put('a//b', b'1')", "put('a\\\\b', b'1')",
        "put('a\\\\\\u0301b', b'1')",
        "put('a/./b', b'1')", "put('a', b'1'); put('a', b'2')", "put('a', b'1'); put('a/', mode=0o40755)",
        "put('l', b'../x', mode=0o120777)", "put('l', b'/etc/passwd', mode=0o120777)",
        "put('d/l', b'../../x', mode=0o120777)", "put('l', b'd', mode=0o120777); put('l/x', b'1')",
        "put('f', b'd'); put('f/x', b'1')",
        // A slash that is one character with what stands beside it.
        "put('../\\u0301x', b'1')", "put('a\\u0600/../b', b'1')", "put('l', '../\\u0301x'.encode(), mode=0o120777)",
    ])
    func `an archive that would write elsewhere is refused`(script: String) throws {
        let scratch = try Scratch()
        let data = try Self.archive(script, in: scratch)
        #expect(throws: AppToolsError(.refused, "")) { try ZipArchive(data) }
    }

    @Test(arguments: [
        "put('Payload/' + 'a' * 256, b'1')", "put('a' * 60000, b'1')", "put('a/' * 500 + 'b', b'1')",
        "put('ü' * 128 + '/x', b'1')",
    ])
    func `a name that no disk takes is a damaged archive, told in one short line`(script: String) throws {
        let scratch = try Scratch()
        let archive = try scratch.file("a.ipa", try Self.archive(script, in: scratch))
        let error = #expect(throws: AppToolsError.self) { try AppPackage(opening: archive, in: scratch.folder) }
        #expect(error == AppToolsError(.malformed, ""))
        #expect(error?.reason.contains("longer than a disk takes") == true && (error?.place.utf8.count ?? 0) < 1_000)
        // The control: as long as a name may be.
        let fits = try Self.archive("put('a' * 255 + '/' + 'b' * 255, b'1')", in: scratch)
        #expect(try ZipArchive(fits).entries.count == 1)
    }

    @Test(arguments: ["put('d', mode=0o060644)", "put('p', mode=0o010644)"])
    func `a device or a pipe in an archive is refused`(script: String) throws {
        let scratch = try Scratch()
        let data = try Self.archive(script, in: scratch)
        #expect(throws: AppToolsError(.unsupported, "")) { try ZipArchive(data) }
    }

    @Test func `a link that leaves the archive through another one is refused, and nothing stays`() throws {
        let scratch = try Scratch()
        let data = try Self.archive(
            "put('d/up', b'..', mode=0o120777); put('out', b'd/up/../x', mode=0o120777); put('x', b'1')", in: scratch)
        let archive = try scratch.file("a.ipa", data)
        #expect(throws: AppToolsError(.refused, "")) { try AppPackage(opening: archive, in: scratch.folder) }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted() == ["a.ipa", "made.zip"])
    }

    @Test func `a link is made when every file is there, and its text is UTF-8`() throws {
        let scratch = try Scratch()
        let app = "put('Payload/A.app/l', b'd', mode=0o120777); put('Payload/A.app/d/x', b'1')"
        let archive = try scratch.file("a.ipa", Self.archive(app, in: scratch))
        var links: [Bool] = []
        let package = try AppPackage(opening: archive, in: scratch.folder) { _, _ in
            let names = (try? FileManager.default.subpathsOfDirectory(atPath: scratch.folder.path)) ?? []
            links.append(names.contains { $0.hasSuffix("A.app/l") })
        }
        package.close()
        #expect(links == [false, true])
        let bytes = try Self.archive("put('l', b'\\xff', mode=0o120777)", in: scratch)
        #expect(throws: AppToolsError(.malformed, "")) { try ZipArchive(bytes) }
    }

    /// The archive with some bytes behind a mark replaced.
    private func edited(_ data: Data, after mark: [UInt8], at offset: Int, _ bytes: [UInt8]) throws -> Data {
        var data = data
        let place = try #require(data.range(of: Data(mark), options: .backwards)).lowerBound + offset
        data.replaceSubrange(place..<place + bytes.count, with: bytes)
        return data
    }

    @Test func `an entry that says less or more than it is is refused`() throws {
        let scratch = try Scratch()
        let good = try Self.archive("put('a', b'a' * 1000)", in: scratch)
        let record: [UInt8] = [0x50, 0x4B, 1, 2]
        let end: [UInt8] = [0x50, 0x4B, 5, 6]
        let entry = try #require(try ZipArchive(good).entries.first)
        for (offset, bytes) in [
            // Too long and too short a size, another checksum, encryption, an unknown method.
            (24, [0xE9, 3]), (24, [1, 0]), (16, [0]), (8, [1, 0]), (10, [12, 0]),
        ] as [(Int, [UInt8])] {
            let bad = try edited(good, after: record, at: offset, bytes)
            #expect(throws: AppToolsError.self) { try content(ZipArchive(bad), "a") }
        }
        // A bomb: more than deflate can hold.
        let bomb = try edited(good, after: record, at: 24, [0xFF, 0xFF, 0xFF, 0x7F])
        #expect(throws: AppToolsError(.refused, "")) { try ZipArchive(bomb) }
        #expect(throws: AppToolsError(.refused, "")) {
            try ZipArchive(good, limits: ZipArchive.Limits(entries: 1, size: 999))
        }
        // Folders that only a name tells of.
        let deep = try Self.archive("put('a/b/c/d', b'1'); put('a/b/e/f', b'1')", in: scratch)
        #expect(throws: AppToolsError(.refused, "")) { try ZipArchive(deep, limits: ZipArchive.Limits(folders: 3)) }
        #expect(try ZipArchive(deep, limits: ZipArchive.Limits(folders: 4)).entries.count == 2)
        // Two entries over the same bytes.
        let two = try Self.archive("put('a', b'a' * 1000); put('b', b'a' * 1000)", in: scratch)
        let over = try edited(two, after: record, at: 42, [0, 0, 0, 0])
        #expect(throws: AppToolsError(.refused, "")) { try ZipArchive(over) }
        // Another name in the entry's own header.
        var other = good
        other[entry.offset + 30] = UInt8(ascii: "z")
        #expect(throws: AppToolsError(.refused, "")) { try ZipArchive(other) }
        for place in [14, 18, 22] {
            var other = good
            other[entry.offset + place] ^= 1
            #expect(throws: AppToolsError(.refused, "")) { try ZipArchive(other) }
            // What says of a size that it stands elsewhere.
            other.replaceSubrange(entry.offset + place..<entry.offset + place + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
            #expect(throws: AppToolsError.self) { try ZipArchive(other) }
        }
        // Another length in 64 bits.
        var long = try Self.archive("zipfile.ZIP64_LIMIT = 10; put('a', b'b' * 100)", in: scratch)
        long[try #require(try ZipArchive(long).entries.first).offset + 30 + 1 + 4] ^= 1
        #expect(throws: AppToolsError(.refused, "")) { try ZipArchive(long) }
        // Split over several files.
        let split = try edited(good, after: end, at: 4, [1, 0])
        #expect(throws: AppToolsError(.unsupported, "")) { try ZipArchive(split) }
    }

    /// What writes the archive to a pipe, so that the checksum and the lengths of an entry follow its content.
    private static let piped = """
        z = None; out = open(sys.argv[1], 'wb')
        class Pipe:
            def write(self, b): return out.write(b)
            def flush(self): out.flush()
        z = zipfile.ZipFile(Pipe(), 'w')

        """

    @Test func `numbers behind an entry are those of the directory`() throws {
        let scratch = try Scratch()
        let good = try Self.archive(Self.piped + "put('a', b'a' * 1000); put('b', b'b', packed=False)", in: scratch)
        let entries = try ZipArchive(good).entries
        #expect(entries.map(\.size) == [1000, 1])
        // Mark, checksum and both lengths; then the same in the entry's own header, and that it is encrypted.
        for place in [-16, -12, -8, -4].map({ entries[1].offset + $0 }) + [14, 18, 22, 6] {
            var bad = good
            bad[place] ^= 1
            #expect(throws: AppToolsError(.refused, ""), "\(place)") { try ZipArchive(bad) }
        }
        let ended = try Self.archive(Self.piped + "put('a', b'PK\\7\\10', packed=False)", in: scratch)
        #expect(throws: AppToolsError(.refused, "")) { try ZipArchive(ended) }
    }

    /// Entries whose own header says that their numbers follow, whatever it states: `put` takes the numbers of the
    /// header (the checksum, the packed size and the size) and what lies behind the content.
    private static let late = """
        import zlib; z = None
        out = open(sys.argv[1], 'wb'); records = []
        def entry(name, data, stated, method=0): return struct.pack('<4s5H3I2H', b'PK\\3\\4', 20, 8, method, 0, 33, *stated, len(name), 0) + name + data
        def numbers(data): return (zlib.crc32(data), len(data), len(data))
        def behind(data): return b'PK\\7\\10' + struct.pack('<3I', *numbers(data))
        def put(name, data, stated, rest, mode=0o100644, method=0):
            own = (0, len(data), 0) if method else numbers(data)
            records.append(struct.pack('<4s6H3I5H2I', b'PK\\1\\2', 788, 20, 8, method, 0, 33, *own, len(name), 0, 0, 0, 0, mode << 16, out.tell()) + name)
            out.write(entry(name, data, stated, method) + rest)
        class z:
            def close():
                start = out.tell(); all = b''.join(records)
                out.write(all + struct.pack('<4s4H2IH', b'PK\\5\\6', 0, 0, len(records), len(records), len(all), start, 0)); out.close()

        """

    @Test(arguments: [
        // Ends for a program that goes by the mark, and goes on with an entry.
        "d = b'X' + behind(b'X') + entry(b'HIDDEN', b'!', numbers(b'!')); put(b'a', d, numbers(d), behind(d))",
        // Does not end for such a program.
        "put(b'a', b'X', (0, 0, 0), behind(b'X')[4:])",
        "put(b'a', b'X', (0, 0, 0), struct.pack('<IQQ', *numbers(b'X')))",
        // Lacks what such a program expects, and looks for.
        "put(b'a', b'X', numbers(b'X'), b'')", "put(b'a/', b'', (0, 0, 0), b'', 0o40755)",
    ])
    func `an entry whose numbers follow ends at the mark, for every program`(script: String) throws {
        let scratch = try Scratch()
        let error = #expect(throws: AppToolsError(.refused, "")) {
            try ZipArchive(Self.archive(Self.late + script, in: scratch))
        }
        #expect(error?.hint?.contains("zip -r -y") == true)
        // The controls: with the mark, whatever the header states.
        for control in [
            "put(b'a', b'X', (0, 0, 0), behind(b'X')); put(b'b/', b'', (0, 0, 0), behind(b''), 0o40755)",
            "put(b'a', b'X', numbers(b'X'), b'PK\\7\\10' + struct.pack('<IQQ', *numbers(b'X')))",
        ] {
            #expect(throws: Never.self, "\(control)") {
                try ZipArchive(Self.archive(Self.late + control, in: scratch))
            }
        }
    }

    @Test func `a folder's packed content ends where the folder does`() throws {
        let scratch = try Scratch()
        let folder = "put(b'a/', d, (0, 0, 0), b'PK\\7\\10' + struct.pack('<3I', 0, len(d), 0), 0o40755, 8)"
        let data = try Self.archive(
            Self.late + "d = b'\\3\\0' + entry(b'HIDDEN', b'!', numbers(b'!')); " + folder, in: scratch)
        #expect(throws: AppToolsError(.malformed, "")) { try ZipArchive(data) }
        // The control: an empty folder as some programs pack it.
        #expect(try ZipArchive(Self.archive(Self.late + "d = b'\\3\\0'; " + folder, in: scratch)).entries.count == 1)
    }

    @Test func `bytes that belong to no entry are refused: a program that reads from the front may find one in them`()
        throws
    {
        let scratch = try Scratch()
        let gap = "z.fp.seek(z.start_dir); z.fp.write(b'x' * 40); z.start_dir = z.fp.tell()"
        for script in ["\(gap); put('a', b'1')", "put('a', b'1'); \(gap); put('b', b'2')", "put('a', b'1'); \(gap)"] {
            let data = try Self.archive(script, in: scratch)
            #expect(throws: AppToolsError(.refused, ""), "\(script)") { try ZipArchive(data) }
        }
    }

    @Test(.seeded(as: 20)) func `a damaged archive is an error, wherever the damage is`() throws {
        let scratch = try Scratch()
        let good = try Self.archive(
            "put('a/', mode=0o40755); put('a/b', b'text' * 50); put('a/l', b'b', mode=0o120777)", in: scratch)
        for length in 0..<good.count { #expect(throws: AppToolsError.self) { try ZipArchive(good.prefix(length)) } }
        var random = SeededGenerator()
        for _ in 0..<3000 {
            var bad = good
            bad[Int.random(in: 0..<bad.count, using: &random)] = .random(in: 0...255, using: &random)
            // Whatever comes of it: an error, or the same names with contents that fit their checksums.
            guard let archive = try? ZipArchive(bad) else { continue }
            for entry in archive.entries {
                try? archive.unpack(entry) { piece throws(AppToolsError) in _ = piece.count }
            }
        }
    }
}

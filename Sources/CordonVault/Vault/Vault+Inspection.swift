public import Foundation

extension Vault {
    /// What a sealed file says of itself, read without any key and therefore unproved.
    ///
    /// - Throws: `noSuchFile`, `isDirectory`, `notSealed`, `unsupportedFormat`, `damaged` when header, records or length
    ///   do not fit together, or what the disk refused.
    public static func inspect(_ path: URL) throws(VaultError) -> SealedFileFacts {
        guard let device = try PosixFile.open(path.path, writing: false) else {
            throw VaultError(.noSuchFile, "There is no file.", place: path.path)
        }
        defer { device.close() }
        let header = try SealedHeader(of: device)
        guard header.kind == .file else { throw .isDatabase }
        let page = RawMemory(Layout.recordPage)
        var found: [CommitRecord] = []
        for index in 0...1 {
            try device.readAll(page.slice(0, Layout.recordPage), at: Layout.recordOffsets[index])
            if let record = CommitRecord.claim(in: page, index: index, chunkSize: header.chunkSize) {
                found.append(record)
            }
        }
        let size = try device.size()
        guard let newest = CommitRecord.newest(of: found, bytesOnDisk: size, recovering: false) else {
            throw VaultError(
                .damaged, "The commit records or the length on disk do not fit together.", place: path.path)
        }
        return SealedFileFacts(header, newest, bytesOnDisk: size)
    }

    /// Proves a whole sealed file of an unlocked account genuine by reading every block. Holes take no time: the blocks above them prove that
    /// they are holes.
    ///
    /// - Parameter progress: told the bytes proved so far and in all, from time to time.
    /// - Throws: what ``open(_:writing:recovering:)`` throws; `damaged` names the block.
    public func verify(
        _ path: URL, progress: @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) throws(VaultError) -> SealedFileFacts {
        let file = try open(path, writing: false)
        let memory = RawMemory(max(1 << 18, file.chunkSize), isSecret: true)
        try file.ofOneCommit { () throws(VaultError) in
            let size = try file.size()
            var offset: Int64 = 0
            while offset < size, let start = try file.firstStored(from: offset) {
                offset = start + Int64(try file.read(into: memory.slice(0, memory.bytes.count), at: start))
                progress(offset, size)
            }
            if offset < size { progress(size, size) }
        }
        try file.close()
        return try Self.inspect(path)
    }
}

extension Vault {
    /// Whether a file claims to be a sealed database; false for what cannot be read.
    public static func isSealedDatabase(_ path: URL) -> Bool { (try? DatabaseKeyring.isSealed(path.path)) == true }

    /// What a sealed database says of itself, read without any key and therefore unproved.
    ///
    /// - Throws: `noSuchFile`, `isDirectory`, `notSealed`, `unsupportedFormat`, `damaged` when header or length are not well
    ///   formed, `inUse` when this process has it open, or what the disk refused.
    public static func inspectDatabase(_ path: URL) throws(VaultError) -> SealedDatabaseFacts {
        try withDatabase(path) { (image) throws(VaultError) in SealedDatabaseFacts(image) }
    }

    /// Proves every page of a sealed database of an unlocked account genuine. It leaves out log and journal, which SQLite
    /// checks when it opens the database.
    ///
    /// - Throws: what ``inspectDatabase(_:)`` throws, and `locked`, `unknownAccount`, `wiped`, `wrongKey`; `damaged` names
    ///   the page, or says that pages are missing at the end.
    public func verifyDatabase(_ path: URL) throws(VaultError) -> SealedDatabaseFacts {
        try Self.withDatabase(path) { (image) throws(VaultError) in
            var first: [UInt8] = []
            try image.forEachBlock(under: try key(for: image.header.owner)) { page in
                if first.isEmpty { first = Array(page.prefix(100)) }
            }
            // With a log or a journal beside it, the length in page 1 may be that of another moment.
            let isAlone = ["-wal", "-journal"].allSatisfy { !FileManager.default.fileExists(atPath: path.path + $0) }
            if isAlone, first.count == 100, Self.number(first, 24) == Self.number(first, 92),
                Self.number(first, 28) * Self.pageSize(first) > image.blockCount * Int64(image.header.chunkSize)
            {
                throw VaultError(.damaged, "Pages are missing at the end.")
            }
            return SealedDatabaseFacts(image)
        }
    }

    private static func withDatabase<Result>(
        _ path: URL, _ body: (SealedDatabaseImage) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        guard let device = try PosixFile.open(path.path, writing: false, ifExists: true) else {
            throw VaultError(.noSuchFile, "There is no file.", place: path.path)
        }
        defer { device.close() }
        do {
            return try body(try SealedDatabaseImage(device))
        } catch {
            let place = path.path + (error.place.map { ", \($0)" } ?? "")
            throw VaultError(error.code, error.reason, place: place, hint: error.hint)
        }
    }

    /// A number of SQLite's header, which has the highest byte first.
    private static func number(_ header: [UInt8], _ offset: Int) -> Int64 {
        header[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
    }

    private static func pageSize(_ header: [UInt8]) -> Int64 {
        let size = Int64(header[16]) << 8 | Int64(header[17])
        return size == 1 ? 65536 : size
    }
}

public import Foundation

extension Vault {
    /// What a sealed file says of itself, read without any key and hence unproved.
    ///
    /// - Throws: `noSuchFile`, `isDirectory`, `notSealed`, `unsupportedFormat`, `damaged` when header, records or length
    ///   do not fit together, or what the disk refused.
    public static func inspect(_ path: URL) throws(VaultError) -> SealedFileFacts {
        guard let device = try PosixFile.open(path.path, writing: false) else {
            throw VaultError(.noSuchFile, "There is no file.", place: path.path)
        }
        defer { device.close() }
        let header = try Self.header(of: device)
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

    /// Proves a whole sealed file of an unlocked account genuine, reading every block.
    ///
    /// - Parameter progress: told the bytes read so far and in all, from time to time.
    /// - Throws: what ``open(_:writing:recovering:)`` throws; `damaged` names the block.
    public func verify(
        _ path: URL, progress: @Sendable (Int64, Int64) -> Void = { _, _ in }
    ) throws(VaultError) -> SealedFileFacts {
        let file = try open(path, writing: false)
        let size = try file.size()
        let memory = RawMemory(max(1 << 18, file.chunkSize))
        var offset: Int64 = 0
        while offset < size {
            offset += Int64(try file.read(into: memory.slice(0, memory.bytes.count), at: offset))
            progress(offset, size)
        }
        try file.close()
        return try Self.inspect(path)
    }
}

internal import CordonBase
public import CordonIdentity
internal import Foundation

/// An encrypted file of one account: offsets and lengths are those of the plaintext, whatever the disk holds.
///
/// Reads return exactly what was written or throw; never other bytes. What was written before ``sync()`` returned survives a kill
/// and a power cut; later writes are there whole or not at all, commit by commit. One writer and any number
/// of readers, across processes; a reader sees one commit until ``refresh()``, and throws `overtaken` when a writer has
/// reused that commit's places meanwhile. Any thread may call every method; all run under one lock. After ``close()``,
/// and after a wipe or a lock of the account, every call that reads, writes or asks about the file throws; only the cursor can still be moved.
/// A wipe waits for no call that is under way, and a lock for no read: that throws too, whatever the disk then gives.
///
/// ```swift
/// let file = try await protection.files.open("plan.txt", of: account, writing: true)
/// try plan.withUnsafeBytes { try file.write($0, at: 0) }
/// try file.close()  // durable from here on
/// ```
///
/// (SDK-FP-10, SDK-FP-11, SDK-FP-15; `docs/vault-format.md`)
public final class SealedFile: @unchecked Sendable {  // every variable is touched only while `mutex` is held
    /// The file's owner, fixed at its creation (SDK-FP-04).
    public let owner: AccountID
    /// Whether this handle may write.
    public let isWritable: Bool
    /// Bytes of plaintext in one chunk, the unit of encryption.
    public let chunkSize: Int

    private let mutex = NSLock()
    private var store: SealedStore?
    private var ending: VaultError?
    /// Why the file is to end, from ``invalidate(_:)``, which does not wait for ``mutex``: whoever holds that ends the file on giving it back. Has a
    /// lock of its own.
    private let ordered = Locked<VaultError?>(nil)
    private var cursor: Int64 = 0
    /// Whether a reader has handed out anything of the commit that it sees.
    private var hasHandedOut = false
    /// One chunk of plaintext that small reads and writes collect in, once there is one.
    private var collected: RawMemory?
    private var hotChunk: Int64 = -1
    private var isHotDirty = false

    init(_ store: SealedStore, writable: Bool) {
        self.store = store
        owner = store.header.owner
        isWritable = writable
        chunkSize = store.header.chunkSize
    }

    deinit { try? close() }

    // MARK: State

    /// The plaintext length in bytes, including what this handle has written.
    ///
    /// - Throws: ``VaultError`` when the file is closed, locked or wiped.
    public func size() throws(VaultError) -> Int64 {
        mutex.lock()
        defer { giveBack() }
        let size = try live().shape.size
        hasHandedOut = true
        return size
    }

    /// Where the next ``read(into:)`` or ``write(_:)`` begins.
    public func tell() -> Int64 {
        mutex.lock()
        defer { giveBack() }
        return cursor
    }

    /// Sets where the next ``read(into:)`` or ``write(_:)`` begins, even beyond the end.
    ///
    /// - Throws: `invalidArgument` for a negative offset.
    public func seek(to offset: Int64) throws(VaultError) {
        mutex.lock()
        defer { giveBack() }
        guard offset >= 0 else { throw VaultError(.invalidArgument, "An offset is not negative.") }
        cursor = offset
    }

    /// Moves to the newest commit of a writer elsewhere. Returns whether there was one; always false for a writer.
    ///
    /// - Throws: ``VaultError`` when the file was damaged, closed, locked or wiped.
    @discardableResult
    public func refresh() throws(VaultError) -> Bool {
        mutex.lock()
        defer { giveBack() }
        let store = try live()
        guard !isWritable else { return false }
        forgetChunk()
        let isNewer = try store.refresh()
        hasHandedOut = false
        return isNewer
    }

    /// Whether the file is better resealed, under a new content key.
    var isDueForNewKey: Bool {
        mutex.lock()
        defer { giveBack() }
        return store?.isDueForNewKey ?? false
    }

    /// The header's public facts.
    var header: SealedHeader? {
        mutex.lock()
        defer { giveBack() }
        return store?.header
    }

    // MARK: Reading

    /// Reads at the cursor and moves it; fewer bytes than fit only at the end.
    ///
    /// - Throws: ``VaultError``, `overtaken` as ``read(into:at:)`` does; the memory then holds zeros.
    public func read(into memory: UnsafeMutableRawBufferPointer) throws(VaultError) -> Int {
        mutex.lock()
        defer { giveBack() }
        let count = try readLocked(memory, at: cursor)
        cursor += Int64(count)
        return count
    }

    /// Reads at an offset; fewer bytes than fit only at the end. The cursor stays.
    ///
    /// - Throws: ``VaultError``; the memory then holds zeros. `overtaken` when earlier reads came from a commit
    ///   that is gone: ``refresh()`` and begin again. A handle that is open for writing may have to write what it has buffered first;
    ///   if that fails, it refuses further writes, and reads that would have to write first.
    public func read(into memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int {
        mutex.lock()
        defer { giveBack() }
        return try readLocked(memory, at: offset)
    }

    private func readLocked(_ memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int {
        guard offset >= 0 else { throw VaultError(.invalidArgument, "An offset is not negative.") }
        var tries = 0
        while true {
            do {
                let count = try readChunks(memory, at: offset)
                hasHandedOut = true
                return count
            } catch {
                memory.initializeMemory(as: UInt8.self, repeating: 0)
                // A reader's commit may have been overtaken by a writer, who then reuses its places.
                guard error.code == .damaged, !isWritable, let store, try store.isOvertaken() else { throw error }
                tries += 1
                guard !hasHandedOut, tries < Self.triesWhenOvertaken else {
                    throw VaultError(.overtaken, "A writer has reused the places of the commit that was being read.")
                }
                forgetChunk()
                _ = try store.refresh()
            }
        }
    }

    private func readChunks(_ memory: UnsafeMutableRawBufferPointer, at offset: Int64) throws(VaultError) -> Int {
        let store = try live()
        let total = Int(max(0, min(Int64(memory.count), store.shape.size - offset)))
        var done = 0
        while done < total {
            if done > 0 { try refuseIfOrdered() }
            let position = offset + Int64(done)
            let (chunk, start) = place(of: position)
            if let span = wholeChunks(from: position, total - done) {
                let bytes = span.count * chunkSize
                try store.readChunks(span, into: .init(rebasing: memory[done..<done + bytes]))
                done += bytes
                continue
            }
            let count = min(total - done, chunkSize - start)
            let part = UnsafeMutableRawBufferPointer(rebasing: memory[done..<done + count])
            if chunk == hotChunk {
                part.copyMemory(from: UnsafeRawBufferPointer(hot.slice(start, count)))
            } else if start == 0, count == store.shape.storedChunkSize {
                try store.readChunk(chunk, into: part)
            } else if try store.reference(ofChunk: chunk).isHole {
                part.initializeMemory(as: UInt8.self, repeating: 0)
            } else {
                try load(chunk, store)
                part.copyMemory(from: UnsafeRawBufferPointer(hot.slice(start, count)))
            }
            done += count
        }
        try store.trimNodes()
        // What the disk gave after a wipe is not handed out any more.
        try refuseIfOrdered()
        return total
    }

    /// Where the first byte from an offset on lies that is in no hole; nil where none follows. For a file that is open for reading.
    ///
    /// - Throws: ``VaultError`` as ``read(into:at:)`` does.
    func firstStored(from offset: Int64) throws(VaultError) -> Int64? {
        mutex.lock()
        defer { giveBack() }
        let store = try live()
        hasHandedOut = true
        do {
            let chunk = try store.firstStored(from: place(of: offset).chunk)
            return chunk.map { max(offset, $0 * Int64(chunkSize)) }
        } catch {
            guard error.code == .damaged, try store.isOvertaken() else { throw error }
            throw VaultError(.overtaken, "A writer has reused the places of the commit that was being read.")
        }
    }

    // MARK: Writing

    /// Writes at the cursor and moves it.
    ///
    /// - Throws: ``VaultError``; after a failed write the handle refuses further ones, and what was synced is intact.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(VaultError) {
        mutex.lock()
        defer { giveBack() }
        try change { (store) throws(VaultError) in try write(bytes, at: cursor, store) }
        cursor += Int64(bytes.count)
    }

    /// Writes at an offset, beyond the end too: the gap reads as zeros and takes no space. The cursor stays.
    ///
    /// - Throws: ``VaultError``; after a failed write the handle refuses further ones, and what was synced is intact.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(VaultError) {
        mutex.lock()
        defer { giveBack() }
        try change { (store) throws(VaultError) in try write(bytes, at: offset, store) }
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ store: SealedStore
    ) throws(VaultError) {
        let (end, overflow) = offset.addingReportingOverflow(Int64(bytes.count))
        guard offset >= 0, !overflow, end < 1 << 52 else {
            throw VaultError(.invalidArgument, "The offset is negative or too large.")
        }
        if end > store.shape.size, !bytes.isEmpty { try resize(to: end, store) }
        var done = 0
        while done < bytes.count {
            try refuseIfOrdered()
            let position = offset + Int64(done)
            let (chunk, start) = place(of: position)
            if let span = wholeChunks(from: position, bytes.count - done) {
                let count = span.count * chunkSize
                try store.replaceChunks(span, with: .init(rebasing: bytes[done..<done + count]))
                done += count
                continue
            }
            let count = min(bytes.count - done, chunkSize - start)
            let part = UnsafeRawBufferPointer(rebasing: bytes[done..<done + count])
            if count == chunkSize {
                if chunk == hotChunk { (hotChunk, isHotDirty) = (-1, false) }
                try store.replaceBlock(at: TreePlace(level: 0, index: chunk), with: part)
            } else {
                try load(chunk, store)
                hot.slice(start, count).copyMemory(from: part)
                isHotDirty = true
            }
            done += count
        }
        try store.trimNodes()
    }

    /// Cuts or extends the plaintext to a length; an extension reads as zeros and takes no space.
    ///
    /// - Throws: ``VaultError``; after a failed write the handle refuses further ones, and what was synced is intact.
    public func truncate(to size: Int64) throws(VaultError) {
        mutex.lock()
        defer { giveBack() }
        guard size >= 0, size < 1 << 52 else {
            throw VaultError(.invalidArgument, "The length is negative or too large.")
        }
        try change { (store) throws(VaultError) in
            if size != store.shape.size { try resize(to: size, store) }
        }
    }

    /// Makes the bytes the whole plaintext, durably, and leaves the file complete, so that closing it has nothing to write.
    ///
    /// In one turn: a lock of the account makes durable what it finds, which must not be a file that was only emptied.
    /// - Throws: ``VaultError`` as ``write(_:at:)`` does; the file on disk then has the former contents or the new ones.
    package func replaceContents(with bytes: UnsafeRawBufferPointer) throws(VaultError) {
        mutex.lock()
        defer { giveBack() }
        try change { (store) throws(VaultError) in
            if store.shape.size != 0 { try resize(to: 0, store) }
            try write(bytes, at: 0, store)
            try finish(store)
        }
    }

    /// Changes the length: the chunk that was or becomes the last is resealed where its stored bytes change.
    private func resize(to size: Int64, _ store: SealedStore) throws(VaultError) {
        let old = store.shape
        let whole = Int64(chunkSize)
        if size < old.size {
            if hotChunk * whole >= size { (hotChunk, isHotDirty) = (-1, false) }
            if size % whole != 0 {
                try load(size / whole, store)
                let kept = Int(size % whole)
                hot.slice(kept, chunkSize - kept).initializeMemory(as: UInt8.self, repeating: 0)
                isHotDirty = true
            }
        } else if old.size > 0, old.size < whole {
            // A file of one chunk stores just its bytes; grown, it stores the chunk whole.
            try load(0, store)
            isHotDirty = true
        }
        try store.reshape(to: size)
    }

    // MARK: Ending

    /// Makes everything written durable.
    ///
    /// - Throws: ``VaultError``; then nothing written since the last good sync may be relied on, and the handle refuses
    ///   further writes.
    public func sync() throws(VaultError) {
        mutex.lock()
        defer { giveBack() }
        _ = try live()
        if isWritable { try change(commit) }
    }

    /// Leaves the file on disk as closing it would, unless it was closed before. It can still be written to. One that is open for reading has nothing
    /// to finish, and is not waited for.
    func finishIfOpen() throws(VaultError) {
        guard isWritable else { return }
        mutex.lock()
        defer { giveBack() }
        if store != nil, !isOrdered { try change(finish) }
    }

    /// Makes everything written durable and closes the file; the object is unusable afterwards (SDK-FP-15).
    ///
    /// Calling it again does nothing. Releasing the object does the same, but hides failures.
    ///
    /// - Throws: ``VaultError`` when the last writes could not be made durable; the file is closed all the same.
    public func close() throws(VaultError) {
        mutex.lock()
        defer { giveBack() }
        guard store != nil, !isOrdered else { return }
        defer { end(VaultError(.closed, "The file is closed.")) }
        if isWritable { try change(finish) }
    }

    /// Drops key and plaintext without writing; every later call throws the given error. A call that is under way is not waited for, since a hung
    /// disk must not hold up a wipe: it throws the error too where it reads, and key and plaintext go when it ends.
    func invalidate(_ reason: VaultError) {
        ordered.withLock { if $0 == nil { $0 = reason } }
        endIfOrdered()
    }

    /// Lets go of ``mutex``, and ends the file where that was asked for meanwhile.
    private func giveBack() {
        mutex.unlock()
        endIfOrdered()
    }

    /// Ends the file where that was asked for; whoever holds ``mutex`` does so on giving it back.
    private func endIfOrdered() {
        guard let reason = ordered.withLock({ $0 }), mutex.try() else { return }
        defer { mutex.unlock() }
        if ending == nil { end(reason) }
    }

    private var isOrdered: Bool { ordered.withLock { $0 != nil } }

    private func refuseIfOrdered() throws(VaultError) {
        if let reason = ordered.withLock({ $0 }) { throw reason }
    }

    private func end(_ reason: VaultError) {
        ending = reason
        store?.device.close()
        store = nil
        // Overwritten when it is given back.
        collected = nil
        (hotChunk, isHotDirty) = (-1, false)
    }

    private func commit(_ store: SealedStore) throws(VaultError) {
        try flushHot(store)
        try store.commit(closing: false)
    }

    private func finish(_ store: SealedStore) throws(VaultError) {
        try flushHot(store)
        try store.commit(closing: true)
    }

    // MARK: The collected chunk

    /// The memory of the collected chunk, made when it is first needed: reading a whole file may need none.
    private var hot: RawMemory {
        if let collected { return collected }
        let made = RawMemory(chunkSize, isSecret: true)
        collected = made
        return made
    }

    private func forgetChunk() {
        hotChunk = -1
        collected?.zero()
    }

    /// The chunk that holds a byte, and where in it; a chunk's size is a power of two.
    private func place(of position: Int64) -> (chunk: Int64, start: Int) {
        (position >> Int64(chunkSize.trailingZeroBitCount), Int(position) & (chunkSize - 1))
    }

    /// Bytes that are read or written between two looks at whether the file was ended.
    private static let spanBytes = 8 << 20

    /// The chunks, two or more, that bytes from a position on fill, up to the collected one; nil where those are fewer.
    private func wholeChunks(from position: Int64, _ count: Int) -> Range<Int64>? {
        guard count >= 2 * chunkSize else { return nil }
        let (chunk, start) = place(of: position)
        guard start == 0 else { return nil }
        let end = chunk + Int64(min(count, Self.spanBytes) / chunkSize)
        let limit = (chunk..<end).contains(hotChunk) ? hotChunk : end
        return limit - chunk < 2 ? nil : chunk..<limit
    }

    private func live() throws(VaultError) -> SealedStore {
        if ending == nil { try refuseIfOrdered() }
        if let store { return store }
        throw ending ?? VaultError(.closed, "The file is closed.")
    }

    /// Runs a change; when it fails part-way nothing is written any more.
    private func change(_ body: (SealedStore) throws(VaultError) -> Void) throws(VaultError) {
        let store = try live()
        guard isWritable else { throw VaultError(.readOnly, "The file is open for reading only.") }
        guard !store.isBroken else { throw VaultError(.closed, "An earlier write to the file failed.") }
        do {
            try body(store)
        } catch {
            if error.code != .invalidArgument { store.markBroken() }
            throw error
        }
    }

    private func load(_ chunk: Int64, _ store: SealedStore) throws(VaultError) {
        if chunk == hotChunk { return }
        try flushHot(store)
        hotChunk = -1
        hot.zero()
        let reference = chunk < store.shape.chunkCount ? try store.reference(ofChunk: chunk) : .hole
        if !reference.isHole {
            try store.readBlock(
                reference, at: TreePlace(level: 0, index: chunk), into: hot.slice(0, store.shape.storedChunkSize))
        }
        hotChunk = chunk
    }

    private func flushHot(_ store: SealedStore) throws(VaultError) {
        guard isHotDirty else { return }
        let bytes = UnsafeRawBufferPointer(hot.slice(0, store.shape.storedChunkSize))
        try store.replaceBlock(at: TreePlace(level: 0, index: hotChunk), with: bytes)
        isHotDirty = false
    }
}

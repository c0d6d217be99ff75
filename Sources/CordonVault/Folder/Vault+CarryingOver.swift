internal import CordonIdentity
internal import Foundation

extension Vault {
    /// Brings a folder of version 1 into the present form: each file is sealed anew under its name, then the directory is written,
    /// then the former list goes. The caller holds the folder's lock.
    ///
    /// A kill at any instant loses nothing: what the list names and what is at its former place counts until it was removed there,
    /// and the next call goes on. A file that is damaged keeps its name, and stays damaged.
    /// - Throws: `inUse` when a writer has one of the files open; ``VaultError`` when the disk refuses.
    package func carryOver(_ folder: SealedFolder) async throws(VaultError) {
        guard let former = try formerList(in: folder) else { return }
        // Nobody else is at work in the folder, so what is unfinished there stays so.
        for name in try PosixFile.names(in: folder.url.path) where name.hasPrefix(".cordon-") {
            PosixFile.remove(folder.url.appendingPathComponent(name).path)
        }
        for (name, file) in former.files.sorted(by: { $0.key < $1.key }) {
            let path = folder.url.appendingPathComponent(file)
            try await carryOver(path, as: SealedFolder.kept(name), in: folder)
        }
        var names = Set(try listed(in: folder))
        for name in former.files.keys where try holds(name, in: folder) { names.insert(SealedFolder.kept(name)) }
        try writeDirectory(of: folder, listing: names.sorted())
        try PosixFile.unlinkIfPresent(folder.url.appendingPathComponent(FormerList.fileName).path)
        try PosixFile.syncDirectory(folder.url.path)
    }

    private func carryOver(_ path: URL, as name: String, in folder: SealedFolder) async throws(VaultError) {
        let target = try self.path(of: name, in: folder)
        guard let held = try PosixFile.open(path.path, writing: false, ifExists: true) else { return }
        defer { held.close() }
        try held.lockForWriting()
        do {
            let source = try open(path, writing: false, expecting: .former(of: folder.account))
            try await seal(source, at: target, as: name, in: folder)
            try source.close()
        } catch {
            guard [.damaged, .notSealed, .wrongKey, .unsupportedFormat].contains(error.code) else { throw error }
            // What was carried over before a kill is not replaced by a former file that has been damaged since.
            if PosixFile.isAbsent(target.path) {
                // Under its new name it opens as little as under the former one, and is still listed.
                try PosixFile.rename(path.path, to: target.path)
                return try PosixFile.syncDirectory(folder.url.path)
            }
        }
        try PosixFile.unlinkIfPresent(path.path)
    }

    /// Copies an open file's plaintext into a new file of the present form, by the megabyte, letting other work of the vault in
    /// between.
    private func seal(
        _ source: SealedFile, at target: URL, as name: String, in folder: SealedFolder
    ) async throws(VaultError) {
        let draft = folder.url.appendingPathComponent(PosixFile.temporaryName())
        do throws(VaultError) {
            let file = try create(draft, for: folder.account, chunkSize: source.chunkSize, named: .file(name))
            let size = try source.size()
            try file.truncate(to: size)
            let memory = RawMemory(1 << 20)
            var offset: Int64 = 0
            while offset < size {
                let count = try source.read(into: memory.slice(0, memory.bytes.count), at: offset)
                guard count > 0 else { throw VaultError(.damaged, "The file ends before its size.") }
                // Holes stay holes.
                if !memory.isZero(from: 0, to: count) {
                    try file.write(UnsafeRawBufferPointer(memory.slice(0, count)), at: offset)
                }
                offset += Int64(count)
                await Task.yield()
            }
            try file.close()
            try put(draft, at: target, owner: nil)
        } catch {
            PosixFile.remove(draft.path)
            throw error
        }
    }
}

internal import CordonIdentity
package import Foundation

extension Vault {
    /// Opens a file of a folder.
    ///
    /// In a folder of version 1 that was not carried over yet, a file is found for reading alone.
    /// - Throws: `noSuchFile` when the folder has none of that name; `damaged` when another file stands in its place; else
    ///   what ``open(_:writing:recovering:)`` throws.
    package func open(_ name: String, in folder: SealedFolder, writing: Bool) throws(VaultError) -> SealedFile {
        let name = SealedFolder.kept(name)
        let key = try key(for: folder.account)
        let path = folder.url.appendingPathComponent(try key.fileName(for: name))
        let expected = HeaderExpectation(owner: folder.account, version: .two, name: .file(name))
        do {
            return try open(path, writing: writing, expecting: expected, under: key)
        } catch {
            guard error.code == .noSuchFile, !writing, let former = try formerPath(of: name, in: folder) else {
                throw error
            }
            do {
                return try open(former, writing: false, expecting: .former(of: folder.account))
            } catch {
                // It may have been carried over meanwhile.
                guard error.code == .noSuchFile else { throw error }
                return try open(path, writing: false, expecting: expected)
            }
        }
    }

    /// Whether a folder has a file of a name, genuine or not.
    package func holds(_ name: String, in folder: SealedFolder) throws(VaultError) -> Bool {
        !PosixFile.isAbsent(try path(of: SealedFolder.kept(name), in: folder).path)
    }

    /// Makes a file in a folder, durable at once and never there without its contents. The caller holds the folder's lock.
    ///
    /// - Throws: `alreadyExists`; `invalidArgument` for a name of more than 1,024 bytes; else what
    ///   ``create(_:for:chunkSize:replacing:mode:)`` throws.
    package func create(
        _ name: String, in folder: SealedFolder, holding contents: Data = Data()
    ) throws(VaultError) -> SealedFile {
        let kept = try SealedFolder.checked(name)
        let path = try path(of: kept, in: folder)
        guard PosixFile.isAbsent(path.path) else {
            throw VaultError(.alreadyExists, "A file is already there.", place: path.path)
        }
        do {
            try note(.comes, kept, in: folder)
            return try create(path, for: folder.account, named: .file(kept), holding: contents)
        } catch {
            // Another process that wipes the account removes the folder, after the key.
            if error.code == .noSuchFile { _ = try key(for: folder.account) }
            throw error
        }
    }

    /// Replaces a file's contents, durably, or makes the file, which is never there without them. The caller holds the folder's lock.
    ///
    /// - Throws: ``VaultError`` as ``open(_:in:writing:)`` and ``create(_:in:holding:)`` do.
    package func write(_ contents: Data, as name: String, in folder: SealedFolder) throws(VaultError) {
        let isThere = try holds(name, in: folder)
        let file =
            isThere ? try open(name, in: folder, writing: true) : try create(name, in: folder, holding: contents)
        defer { try? file.close() }
        if isThere { try file.replaceContents(with: contents) }
    }

    /// Removes a file from a folder; one that is not there is no error. The caller holds the folder's lock.
    ///
    /// - Throws: ``VaultError`` when the directory cannot be written, or the system refuses.
    package func remove(_ name: String, from folder: SealedFolder) throws(VaultError) {
        let name = SealedFolder.kept(name)
        let path = try path(of: name, in: folder)
        let former = try formerPath(of: name, in: folder)
        if !PosixFile.isAbsent(path.path) {
            try note(.goes, name, in: folder)
            try PosixFile.unlinkIfPresent(path.path)
        } else if former == nil {
            return
        }
        if let former { try PosixFile.unlinkIfPresent(former.path) }
        try PosixFile.syncDirectory(folder.url.path)
    }

    /// The names of a folder's files, in order.
    ///
    /// Nothing is lost if the directory is missing or damaged: the names are taken from the headers then, and the next change of the
    /// folder writes it again.
    /// - Throws: ``VaultError`` when the folder or its directory cannot be read.
    package func names(in folder: SealedFolder) throws(VaultError) -> [String] {
        let names = try listed(in: folder)
        guard let former = try formerList(in: folder) else { return names }
        var all = Set(names)
        for (name, file) in former.files {
            let isCarriedOver = try holds(name, in: folder)
            let isThere = isCarriedOver || !PosixFile.isAbsent(folder.url.appendingPathComponent(file).path)
            if isThere { all.insert(SealedFolder.kept(name)) } else { all.remove(SealedFolder.kept(name)) }
        }
        return all.sorted()
    }

    // MARK: For this target

    /// Where a file of a folder stands.
    func path(of name: String, in folder: SealedFolder) throws(VaultError) -> URL {
        folder.url.appendingPathComponent(try key(for: folder.account).fileName(for: name))
    }

    /// The list of version 1; nil where there is none.
    func formerList(in folder: SealedFolder) throws(VaultError) -> FormerList? {
        guard folder.isFormer else { return nil }
        do {
            let path = folder.url.appendingPathComponent(FormerList.fileName)
            return try FormerList(open(path, writing: false, expecting: .former(of: folder.account)).contents())
        } catch {
            guard error.code == .noSuchFile else { throw error }
            return nil
        }
    }

    private func formerPath(of name: String, in folder: SealedFolder) throws(VaultError) -> URL? {
        guard let former = try formerList(in: folder) else { return nil }
        let file = former.files[name] ?? former.files.first { SealedFolder.kept($0.key) == name }?.value
        return file.map { folder.url.appendingPathComponent($0) }
    }

    // MARK: The directory

    /// Writes what is about to be done to a name, durably, and settles what the last entry said.
    private func note(
        _ change: DirectoryEntry.Change, _ name: String, in folder: SealedFolder
    ) throws(VaultError) {
        if !damagedDirectories.contains(folder.directory), try append(change, name, to: folder) { return }
        try writeDirectory(of: folder, listing: listed(in: folder), then: change, name)
    }

    /// Appends to the directory; false where it has to be rewritten instead.
    private func append(
        _ change: DirectoryEntry.Change, _ name: String, to folder: SealedFolder
    ) throws(VaultError) -> Bool {
        do {
            let file = try openDirectory(of: folder, writing: true)
            defer { try? file.close() }
            var last = try DirectoryEntry.last(in: file)
            var bytes = Data()
            if let said = last {
                let isThere = try holds(said.name, in: folder)
                if isThere != (said.change == .comes) {
                    let entry = DirectoryEntry(isThere ? .comes : .goes, said.name, after: said)
                    entry.append(to: &bytes)
                    last = entry
                }
            }
            if last?.isMostlyGarbage == true { return false }
            DirectoryEntry(change, name, after: last).append(to: &bytes)
            try file.append(bytes)
            try file.close()
            return true
        } catch {
            guard Self.isRebuilt(after: error) else { throw error }
            return false
        }
    }

    /// Puts a new directory in place of the one there is, in one step.
    func writeDirectory(
        of folder: SealedFolder, listing names: [String], then change: DirectoryEntry.Change? = nil, _ name: String = ""
    ) throws(VaultError) {
        var (bytes, last) = DirectoryLog.bytes(of: names)
        if let change { DirectoryEntry(change, name, after: last).append(to: &bytes) }
        let draft = folder.url.appendingPathComponent(PosixFile.temporaryName())
        do {
            let (file, _) = try makeDraft(draft, for: folder.account, chunkSize: 4096, named: .directory)
            try file.append(bytes)
            try file.close()
            try PosixFile.rename(draft.path, to: folder.directory.path)
            try PosixFile.syncDirectory(folder.url.path)
            damagedDirectories.remove(folder.directory)
        } catch {
            PosixFile.remove(draft.path)
            throw error
        }
    }

    /// What the directory lists, or where it cannot serve, what the headers say.
    func listed(in folder: SealedFolder) throws(VaultError) -> [String] {
        try key(for: folder.account).requireNames()
        do {
            let bytes = try openDirectory(of: folder, writing: false).contents()
            return try DirectoryLog.names(in: bytes) { (name) throws(VaultError) in try holds(name, in: folder) }
        } catch {
            guard Self.isRebuilt(after: error) else { throw error }
            if error.code != .noSuchFile { damagedDirectories.insert(folder.directory) }
            return try namesInHeaders(of: folder)
        }
    }

    private func openDirectory(of folder: SealedFolder, writing: Bool) throws(VaultError) -> SealedFile {
        try open(
            folder.directory, writing: writing,
            expecting: HeaderExpectation(owner: folder.account, version: .two, name: .directory))
    }

    /// Whether a directory that failed so is made again; what could not be read is left alone.
    private static func isRebuilt(after error: VaultError) -> Bool {
        [.noSuchFile, .damaged, .notSealed, .wrongKey, .keyExhausted].contains(error.code)
    }

    /// The names that the headers of a folder's files hold, in order. A file whose header does not open has none.
    private func namesInHeaders(of folder: SealedFolder) throws(VaultError) -> [String] {
        let key = try key(for: folder.account)
        var found: [String] = []
        for file in try PosixFile.names(in: folder.url.path) where file.utf8.count == 64 {
            let path = folder.url.appendingPathComponent(file)
            guard let header = try legibleHeader(of: path), header.owner == folder.account,
                case .file(let name)? = try? header.open(under: key).name, try key.fileName(for: name) == file
            else { continue }
            found.append(name)
        }
        return found.sorted()
    }
}

extension Vault {
    /// Brings a folder of version 1 into the present form: each file is resealed under its name, then the directory is written,
    /// then the former list goes. The caller holds the folder's lock.
    ///
    /// A kill at any instant loses nothing: what the list names and what is at its former place counts until it was removed there,
    /// and the next call goes on. A file that is damaged keeps its name, and stays damaged.
    /// - Throws: `inUse` when a writer has one of the files open; ``VaultError`` when the disk refuses.
    package func carryOver(_ folder: SealedFolder) async throws(VaultError) {
        guard let former = try formerList(in: folder) else { return }
        // No other writer is at work in the folder, so what is unfinished there stays so.
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
        guard let held = try PosixFile.openLocked(path.path, writing: false) else { return }
        defer { held.close() }
        do {
            let source = try open(path, writing: false, expecting: .former(of: folder.account))
            try await seal(source, at: target, named: .file(name))
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
    ///
    /// - Parameter held: The target with its writer's lock taken, where the new file replaces it; where it is not there any more
    ///   in the end, there is nothing to replace.
    func seal(
        _ source: SealedFile, at target: URL, named name: SealedName, holding held: PosixFile? = nil
    ) async throws(VaultError) {
        let draft = target.deletingLastPathComponent().appendingPathComponent(PosixFile.temporaryName())
        do throws(VaultError) {
            let (file, _) = try makeDraft(
                draft, for: source.owner, chunkSize: source.chunkSize, mode: UInt16(try held?.mode() ?? 0o600),
                named: name)
            var copy = PlaintextCopy(from: source, into: file)
            while try copy.step() > 0 { await Task.yield() }
            try file.close()
            if let held, try !held.isAt(target.path) {
                throw VaultError(.noSuchFile, "The file was replaced or removed meanwhile.", place: target.path)
            }
            if let held, try held.names() != 1 { throw VaultError.severalNames(target.path) }
            try put(draft, at: target, owner: nil, held: held != nil)
        } catch {
            PosixFile.remove(draft.path)
            throw error
        }
    }
}

import CordonBase
import CordonPolicy
import CordonService
import Foundation
import HTTPTypes

/// A folder of policies, app configurations and filters as files, beside a lock that says what the service said last.
struct PolicyFolder {
    /// What the service said of one file when it was written last.
    struct Entry: Codable, Equatable {
        /// The id on the service.
        var id: String
        /// Its version.
        var version: String
        /// The SHA-256 of what it said.
        var document: String
        /// The SHA-256 of the file.
        var file: String
        /// The digests of its secret values, by their names.
        var secrets: [String: String]
    }

    /// The file that says what the service said last; it belongs into the repository.
    struct Lock: Codable, Equatable {
        static let name = "cordon.lock.json"
        static let format = 1

        /// The version of this form.
        var format = Self.format
        /// The service that the files are of.
        var service: String
        /// What was known of each file, by its path.
        var entries: [String: Entry] = [:]
    }

    let url: URL
    /// The files, by their paths.
    private(set) var files: [String: PolicyFile]
    /// The SHA-256 of each file, by its path.
    private(set) var digests: [String: String]
    /// What the service said last, nil before the first pull.
    private(set) var lock: Lock?

    /// Files that have another name than the lock has for their ids: the names there, by their paths.
    private(set) var renamed: [String: String] = [:]

    /// The folders in it.
    static let places = ["configurations", "filters", "policies"]
    private static let largest = 2 << 20

    /// Reads a folder; one that is not there yet is empty. Anything else that cannot be listed is an error: taken for empty, it would remove
    /// everything from the service.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`, naming the file.
    init(_ path: String) throws {
        url = URL(filePath: path, directoryHint: .isDirectory)
        (files, digests) = ([:], [:])
        var ids: [String: String] = [:]
        try Self.check(url, path)
        for place in Self.places {
            for name in try Self.names(in: url.appending(path: place), place) where Self.isDocument(name) {
                let path = "\(place)/\(name)"
                // Applied and noted, it would make a lock that is refused ever after.
                guard Self.isName(name) else {
                    throw CommandFailure(
                        .badInput, "\(path): the name has control characters",
                        hint: "Give the file another name.")
                }
                guard let bytes = try Self.read(url.appending(path: path), path) else { throw Self.unreadable(path) }
                let file = try PolicyFile(bytes, at: path)
                if let id = file.id, let other = ids.updateValue(path, forKey: "\(file.kind)/\(id.lowercased())") {
                    throw CommandFailure(
                        .badInput, "\(path): has the id of \(other)", hint: "Leave the id out of a copy.")
                }
                (files[path], digests[path]) = (file, PolicyFile.digest(bytes))
            }
        }
        guard let bytes = try Self.read(url.appending(path: Lock.name), Lock.name) else { return }
        guard let lock = try? JSONDecoder().decode(Lock.self, from: bytes), lock.format == Lock.format else {
            throw CommandFailure(.badInput, "\(Lock.name): cannot be read", hint: "Pull into an empty folder.")
        }
        // A pull writes and removes files at these paths.
        if let stray = lock.entries.keys.sorted().first(where: { !Self.isPath($0) }) {
            throw CommandFailure(
                .badInput, "\(Lock.name): \(stray) is not the path of a file in the folder",
                hint: "Take the lock from the repository's history, or pull into an empty folder.")
        }
        self.lock = lock
        followRenames(to: ids)
    }

    /// Refuses what is not a folder, or leads nowhere. A link to a folder is one: it is the caller who named it.
    private static func check(_ folder: URL, _ name: String) throws {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder)
        let leadsNowhere = (try? FileManager.default.destinationOfSymbolicLink(atPath: folder.path)) != nil
        guard exists ? isFolder.boolValue : !leadsNowhere else {
            throw CommandFailure(.badInput, "\(name): is not a folder", hint: "Check the path.")
        }
    }

    /// The names of what is in a folder, in order; none where there is no folder.
    private static func names(in folder: URL, _ place: String) throws -> [String] {
        let type: FileAttributeType?
        do {
            type = try FileManager.default.attributesOfItem(atPath: folder.path)[.type] as? FileAttributeType
        } catch let error as CocoaError where [.fileReadNoSuchFile, .fileNoSuchFile].contains(error.code) {
            return []
        } catch {
            throw CommandFailure(.badInput, "\(place): cannot be read", hint: "Check its permissions.")
        }
        guard type == .typeDirectory else {
            throw CommandFailure(
                .badInput, "\(place): is a link or a file in the place of a folder",
                hint: "Files are read from the folder itself, and written into it.")
        }
        do { return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() } catch {
            throw CommandFailure(.badInput, "\(place): cannot be listed", hint: "Check its permissions.")
        }
    }

    /// Whether a file is meant to be read.
    private static func isDocument(_ name: String) -> Bool { name.hasSuffix(".json") && !name.hasPrefix(".") }

    /// Whether a name is one that such a file may have.
    private static func isName(_ name: String) -> Bool {
        isDocument(name) && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Whether a path is that of a file in one of the places, as this type itself names them.
    private static func isPath(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return parts.count == 2 && places.contains(parts[0]) && isName(parts[1])
    }

    /// - Returns: The bytes, nil where there is no file.
    private static func read(_ file: URL, _ name: String) throws -> Data? {
        do { return try DurableFile.read(file, limit: largest) } catch { throw unreadable(name) }
    }

    private static func unreadable(_ name: String) -> CommandFailure {
        CommandFailure(
            .badInput, "\(name): cannot be read, or is larger than two megabytes",
            hint: "It has to be a plain file; a link is not followed.")
    }

    /// Lets the lock follow files that were given other names: whose a file is, its id says. Where a file has another id than the lock has
    /// for its path, what the path was of before is in no file now, and is left alone as such.
    ///
    /// - Parameter homes: The paths of the files by their kinds and ids.
    private mutating func followRenames(to homes: [String: String]) {
        let known = lock?.entries ?? [:]
        func home(of entry: Entry, at path: String) -> String? {
            homes["\(PolicyFile.kind(at: path))/\(entry.id.lowercased())"]
        }
        lock?.entries = known.filter { path, entry in
            guard let id = files[path]?.id else { return home(of: entry, at: path) == nil }
            return id.lowercased() == entry.id.lowercased()
        }
        for (path, entry) in known.sorted(by: { $0.key < $1.key }) {
            guard let home = home(of: entry, at: path), home != path, lock?.entries[home] == nil else { continue }
            lock?.entries[home] = entry
            renamed[home] = path
        }
    }

    /// The path of the file that holds something of the service now.
    func home(of kind: EntityVersion.Kind, _ id: String) -> String? {
        files.values.first { $0.kind == kind && $0.id?.lowercased() == id.lowercased() }?.path
    }

    /// What the service said last of a path.
    func entry(_ path: String) -> Entry? { lock?.entries[path] }

    /// Where a document of the service is or belongs: where its id is already, or a place by its name.
    func path(of document: PresentDocument, besides taken: Set<String>) -> String {
        let id = document.id.lowercased()
        if let known = home(of: document.kind, id) { return known }
        let place = PolicyFile.folder(document.kind, document.document["@odata.type"]?.string)
        if let known = lock?.entries.first(where: { $0.key.hasPrefix(place + "/") && $0.value.id.lowercased() == id }) {
            return known.key
        }
        let name = Self.fileName(document.document["displayName"]?.string ?? "")
        let plain = "\(place)/\(name).json"
        // A path of the lock is that of another document, whose file is gone here and comes back.
        guard files[plain] != nil || taken.contains(plain) || entry(plain) != nil else { return plain }
        return "\(place)/\(name)-\(PolicyFile.digest(Data(id.utf8)).prefix(8)).json"
    }

    /// A name as a file's: lower-case letters and digits, with a hyphen for everything between.
    static func fileName(_ name: String) -> String {
        var plain = ""
        for scalar in name.lowercased().decomposedStringWithCanonicalMapping.unicodeScalars {
            switch scalar {
            case "a"..."z", "0"..."9": plain.unicodeScalars.append(scalar)
            case "\u{300}"..."\u{36F}": continue
            default: if !plain.isEmpty, plain.last != "-" { plain += "-" }
            }
            if plain.utf8.count >= 60 { break }
        }
        while plain.hasSuffix("-") { plain.removeLast() }
        return plain.isEmpty ? "unnamed" : plain
    }

    /// Writes a file, whole or not at all, and notes what the service says of it.
    ///
    /// - Parameter document: What the service says now.
    mutating func write(_ file: PolicyFile, as document: PresentDocument) throws {
        try write(file)
        note(document, at: file.path)
    }

    /// Writes the id of what was made into its file: whatever ends the run then, no later one makes it again.
    mutating func note(_ id: String, at path: String) throws {
        guard var file = files[path], file.id == nil else { return }
        file.id = id
        try write(file)
    }

    private mutating func write(_ file: PolicyFile) throws {
        let bytes = file.bytes
        let place = url.appending(path: file.path)
        do {
            try FileManager.default.createDirectory(
                at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
            if digests[file.path] != PolicyFile.digest(bytes) { try DurableFile.replace(place, with: bytes) }
        } catch {
            throw CommandFailure(.writeFailed, "\(file.path): cannot be written", hint: "Check space and permissions.")
        }
        (files[file.path], digests[file.path]) = (file, PolicyFile.digest(bytes))
    }

    /// Notes what the service says of a file as it is.
    mutating func note(_ document: PresentDocument, at path: String) {
        let said = PolicyFile(document, at: path)
        lock?.entries[path] = Entry(
            id: document.id, version: document.version, document: said.digest, file: digests[path] ?? "",
            secrets: said.secrets)
    }

    /// Forgets a path, and removes its file where that is still there.
    mutating func remove(_ path: String) throws {
        if files[path] != nil {
            do { try DurableFile.remove(url.appending(path: path)) } catch {
                throw CommandFailure(.writeFailed, "\(path): cannot be removed", hint: "Check its permissions.")
            }
        }
        (files[path], digests[path]) = (nil, nil)
        lock?.entries[path] = nil
    }

    /// Says which service the files are of.
    ///
    /// - Throws: ``CommandFailure`` with status `refused` where they are another one's.
    mutating func claim(for service: URL) throws {
        let name = Self.name(of: service)
        if lock == nil { lock = Lock(service: name) }
        guard let known = lock?.service, known == name else {
            throw CommandFailure(
                .refused, "the files are of \(lock?.service ?? "another service"), not of \(name)",
                hint: "Use a folder for each service; to move, remove \(Lock.name) and the ids.")
        }
    }

    static func name(of service: URL) -> String {
        var text = service.absoluteString.lowercased()
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }

    /// Writes the lock.
    func writeLock() throws {
        guard let lock else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try DurableFile.replace(url.appending(path: Lock.name), with: try encoder.encode(lock) + Data("\n".utf8))
        } catch {
            throw CommandFailure(.writeFailed, "\(Lock.name): cannot be written", hint: "Check space and permissions.")
        }
    }
}

extension ServiceClient {
    /// Every policy, app configuration and filter of one moment.
    func documents() async throws -> [PresentDocument] {
        let json = try await json(.get, "admin/v1/documents")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let documents = try? decoder.decode([PresentDocument].self, from: Data(json.text().utf8)) else {
            throw CommandFailure(.badInput, "the service's documents cannot be read", hint: "Is it of another version?")
        }
        return documents
    }
}

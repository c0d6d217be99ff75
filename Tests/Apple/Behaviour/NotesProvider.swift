import CordonApple
import CordonUIKit
import FileProvider
import Foundation

/// A file provider of an app: a folder for each owner, in memory and in one folder on disk, asked as the system asks.
///
/// A test asks one thing after another.
final class NotesProvider: ProtectedFileProvider, @unchecked Sendable {
    private var protected: AppProtection?
    private var folder = FileManager.default.temporaryDirectory
    private var notes: [String: Note] = [:]
    /// Items of the provider that do not say whose they are.
    var strays: [Stray] = []

    @MainActor static func made(for stage: Stage) throws -> NotesProvider {
        let provider = NotesProvider(domain: NSFileProviderDomain())
        provider.protected = stage.protection
        provider.folder = stage.folder.appending(path: "provider")
        try FileManager.default.createDirectory(at: try provider.copiesFolder(), withIntermediateDirectories: true)
        return provider
    }

    static func container(of owner: Identity) -> NSFileProviderItemIdentifier {
        NSFileProviderItemIdentifier(owner.account.map { "of \($0.rawValue)" } ?? "personal")
    }

    // MARK: The provider's own

    private func place(_ name: String) -> URL { folder.appending(path: name) }

    @discardableResult func add(_ name: String, of owner: Identity, contents: String) throws -> URL {
        notes[name] = Note(name, of: owner)
        try Data(contents.utf8).write(to: place(name))
        return place(name)
    }

    func item(_ name: String) -> Note? { notes[name] }
    func contents(of name: String) -> Data? { try? Data(contentsOf: place(name)) }
    func leftCopies() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: copiesFolder().path).count) ?? -1 }

    /// A file that another app brings.
    func outside(_ contents: String) throws -> URL {
        let file = folder.appending(path: "outside")
        try Data(contents.utf8).write(to: file)
        return file
    }

    override func protection() async throws -> AppProtection {
        guard let protected else { throw CancellationError() }
        return protected
    }

    override func owner(ofContainer container: NSFileProviderItemIdentifier) throws -> Identity {
        let owners = [Identity.managed(Stage.account), .personal]
        guard let owner = owners.first(where: { Self.container(of: $0) == container }) else { throw Self.unknown }
        return owner
    }

    override func storedItem(for identifier: NSFileProviderItemIdentifier) async throws -> any OwnedProviderItem {
        guard let note = notes[identifier.rawValue] else { throw Self.unknown }
        return note
    }

    override func storedFile(for identifier: NSFileProviderItemIdentifier) async throws -> URL {
        place(identifier.rawValue)
    }

    override func storedEnumerator(for container: NSFileProviderItemIdentifier) throws -> any NSFileProviderEnumerator {
        AllNotes(notes.values.sorted { $0.filename < $1.filename } + strays)
    }

    override func keep(
        _ item: any NSFileProviderItemProtocol, fields: NSFileProviderItemFields, contents: URL?, owner: Identity
    ) async throws -> any OwnedProviderItem {
        let note = Note(item.itemIdentifier.rawValue, of: owner, name: item.filename)
        if let contents { try FileManager.default.moveItem(at: contents, to: place(note.itemIdentifier.rawValue)) }
        notes[note.itemIdentifier.rawValue] = note
        return note
    }

    override func remove(_ identifier: NSFileProviderItemIdentifier) async throws { notes[identifier.rawValue] = nil }

    override func copiesFolder() throws -> URL { folder.appending(path: "copies") }

    private static var unknown: NSError {
        NSError(domain: NSFileProviderErrorDomain, code: NSFileProviderError.Code.noSuchItem.rawValue)
    }

    // MARK: As the system asks

    private struct Unanswered: Error {}

    func fetched(_ name: String) async throws -> (file: URL, item: Note) {
        try await withCheckedThrowingContinuation { continuation in
            _ = fetchContents(
                for: NSFileProviderItemIdentifier(name), version: nil, request: NSFileProviderRequest()
            ) { file, item, error in
                let answer = file.flatMap { file in (item as? Note).map { (file, $0) } }
                continuation.resume(with: answer.map { .success($0) } ?? .failure(error ?? Unanswered()))
            }
        }
    }

    func created(_ note: Note, from file: URL) async throws -> Note {
        try await withCheckedThrowingContinuation { continuation in
            _ = createItem(
                basedOn: note, fields: .contents, contents: file, options: [], request: NSFileProviderRequest()
            ) { item, _, _, error in
                let answer = item as? Note
                continuation.resume(with: answer.map { .success($0) } ?? .failure(error ?? Unanswered()))
            }
        }
    }

    func modified(_ note: Note, to file: URL?) async throws -> Note {
        try await withCheckedThrowingContinuation { continuation in
            _ = modifyItem(
                note, baseVersion: NSFileProviderItemVersion(), changedFields: [], contents: file, options: [],
                request: NSFileProviderRequest()
            ) { item, _, _, error in
                let answer = item as? Note
                continuation.resume(with: answer.map { .success($0) } ?? .failure(error ?? Unanswered()))
            }
        }
    }

    func removed(_ name: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            _ = deleteItem(
                identifier: NSFileProviderItemIdentifier(name), baseVersion: NSFileProviderItemVersion(), options: [],
                request: NSFileProviderRequest()
            ) { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
        }
    }

    func listed(_ container: NSFileProviderItemIdentifier) async throws -> Told {
        try await enumerator(for: container, request: NSFileProviderRequest()).listed()
    }

    func changes(_ container: NSFileProviderItemIdentifier, from anchor: NSFileProviderSyncAnchor) async throws -> Told
    {
        try await enumerator(for: container, request: NSFileProviderRequest()).changes(from: anchor)
    }

    func anchor(_ container: NSFileProviderItemIdentifier) async -> NSFileProviderSyncAnchor? {
        await (try? enumerator(for: container, request: NSFileProviderRequest()))?.anchor()
    }
}

extension NSFileProviderEnumerator {
    nonisolated(nonsending) func listed() async -> Told {
        await withCheckedContinuation { continuation in
            enumerateItems(
                for: Watching { continuation.resume(returning: $0) }, startingAt: NSFileProviderPage(Data()))
        }
    }

    nonisolated(nonsending) func changes(from anchor: NSFileProviderSyncAnchor) async -> Told {
        await withCheckedContinuation { continuation in
            enumerateChanges(for: Watching { continuation.resume(returning: $0) }, from: anchor)
        }
    }

    nonisolated(nonsending) func anchor() async -> NSFileProviderSyncAnchor? {
        await withCheckedContinuation { continuation in
            currentSyncAnchor { continuation.resume(returning: $0) }
        }
    }
}

/// An item that says whose it is.
final class Note: NSObject, OwnedProviderItem, @unchecked Sendable {
    let itemIdentifier: NSFileProviderItemIdentifier
    let filename: String
    let owner: Identity
    var parentItemIdentifier: NSFileProviderItemIdentifier { NotesProvider.container(of: owner) }

    init(_ identifier: String, of owner: Identity, name: String? = nil) {
        itemIdentifier = NSFileProviderItemIdentifier(identifier)
        filename = name ?? identifier
        self.owner = owner
    }
}

/// An item that does not say whose it is.
final class Stray: NSObject, NSFileProviderItemProtocol, @unchecked Sendable {
    var itemIdentifier: NSFileProviderItemIdentifier { NSFileProviderItemIdentifier("stray") }
    var parentItemIdentifier: NSFileProviderItemIdentifier { .rootContainer }
    var filename: String { "stray" }
}

/// The enumerator of an app that lists all it has, whosever it is.
private final class AllNotes: NSObject, NSFileProviderEnumerator {
    private let items: [any NSFileProviderItemProtocol]

    init(_ items: [any NSFileProviderItemProtocol]) { self.items = items }

    func invalidate() {}

    func enumerateItems(for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage) {
        observer.didEnumerate(items)
        observer.finishEnumerating(upTo: nil)
    }

    func enumerateChanges(for observer: any NSFileProviderChangeObserver, from syncAnchor: NSFileProviderSyncAnchor) {
        observer.didUpdate(items)
        observer.didDeleteItems(withIdentifiers: [NSFileProviderItemIdentifier("gone")])
        observer.finishEnumeratingChanges(upTo: syncAnchor, moreComing: false)
    }

    func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void) {
        completionHandler(NSFileProviderSyncAnchor(Data([7])))
    }
}

/// What an observer of the system's has been told.
struct Told: Sendable {
    var names: [String] = []
    var deleted: [String] = []
    var anchor: NSFileProviderSyncAnchor?
    // An error of the adapters holds values alone.
    nonisolated(unsafe) var error: NSError?
}

private final class Watching: NSObject, NSFileProviderEnumerationObserver, NSFileProviderChangeObserver {
    private var seen = Told()
    private let ended: (Told) -> Void

    init(ended: @escaping (Told) -> Void) { self.ended = ended }

    func didEnumerate(_ updatedItems: [any NSFileProviderItemProtocol]) { seen.names += updatedItems.map(\.filename) }
    func didUpdate(_ updatedItems: [any NSFileProviderItemProtocol]) { seen.names += updatedItems.map(\.filename) }
    func didDeleteItems(withIdentifiers deletedItemIdentifiers: [NSFileProviderItemIdentifier]) {
        seen.deleted += deletedItemIdentifiers.map(\.rawValue)
    }
    func finishEnumerating(upTo nextPage: NSFileProviderPage?) { ended(seen) }
    func finishEnumeratingChanges(upTo anchor: NSFileProviderSyncAnchor, moreComing: Bool) {
        seen.anchor = anchor
        ended(seen)
    }
    func finishEnumeratingWithError(_ error: any Error) {
        seen.error = error as NSError
        ended(seen)
    }
}

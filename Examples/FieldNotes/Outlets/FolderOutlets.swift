import Cordon
import Foundation

extension URL {
    /// The file in this folder for what has a title. Titles come from other apps too, so none may name another folder.
    fileprivate func file(titled title: String, _ kind: String) -> URL {
        let name = String(title.prefix(100).map { $0 == "/" || $0 == "\0" ? "_" : $0 })
        return appending(path: (name.hasPrefix(".") ? "_" + name : name) + "." + kind, directoryHint: .notDirectory)
    }
}

/// A printer whose paper is a folder.
struct FolderPrinter: Printer {
    let folder: URL

    func print(_ document: Data, title: String) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try document.write(to: folder.file(titled: title, "txt"), options: .atomic)
    }
}

/// A folder that copies are saved to.
struct FolderPlace: SavePlace {
    let folder: URL

    func save(_ copy: Data, named name: String) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try copy.write(to: folder.file(titled: name, "txt"), options: .atomic)
    }
}

/// Another app's inbox: a folder that it looks into.
struct FolderInbox: ReceivingApp {
    let folder: URL

    func deliver(_ item: SharedItem) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try JSONEncoder().encode(item).write(to: folder.appending(path: "\(UUID().uuidString).json"), options: .atomic)
    }

    /// The things in the inbox with their files, oldest name first. Who has taken one removes its file.
    func items() throws -> [(file: URL, item: SharedItem)] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().compactMap { name in
            let file = folder.appending(path: name)
            guard file.isRegularFile, let bytes = try? Data(contentsOf: file),
                let item = try? JSONDecoder().decode(SharedItem.self, from: bytes)
            else { return nil }
            return (file, item)
        }
    }
}

/// The system's way of opening links: a folder with one file for each.
struct FolderOpener: LinkOpener {
    let folder: URL

    func open(_ address: URL) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(address.absoluteString.utf8).write(to: folder.appending(path: "\(UUID().uuidString).url"))
    }
}

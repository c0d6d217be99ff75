package import Foundation

/// Folders of tests: `let folder = try TemporaryFolder.make()`, then `defer { TemporaryFolder.remove(folder) }`.
package enum TemporaryFolder {
    /// Makes a new folder, whose path is short enough for a socket in it.
    ///
    /// - Parameter inMemory: Whether it lies in memory where the system offers that, for tests that sync often.
    package static func make(inMemory: Bool = false) throws -> URL {
        let folder = newPath(inMemory: inMemory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Where a new folder can be; nothing is there yet.
    package static func newPath(inMemory: Bool = false) -> URL {
        let memory = URL(filePath: "/dev/shm")
        let parent =
            inMemory && FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        return parent.appending(path: "cordon-\(UUID().uuidString.prefix(13))", directoryHint: .isDirectory)
    }

    /// Copies a folder in which programs work; begins again where a file, a lock for one, goes away meanwhile.
    package static func copy(_ folder: URL, to copy: URL) throws {
        while true {
            do { return try FileManager.default.copyItem(at: folder, to: copy) } catch let error as CocoaError
                where error.code == .fileNoSuchFile && FileManager.default.fileExists(atPath: folder.path)
            { remove(copy) }
        }
    }

    /// Puts back what a copy was made of. Programs may work there meanwhile, so it goes by one rename and comes by another: a folder in which
    /// one makes a file, a lock for one, can be neither removed nor copied to.
    package static func putBack(_ copy: URL, at place: URL) throws {
        let parent = place.deletingLastPathComponent()
        let (next, former) = (parent.appending(path: UUID().uuidString), parent.appending(path: UUID().uuidString))
        try FileManager.default.copyItem(at: copy, to: next)
        try FileManager.default.moveItem(at: place, to: former)
        try FileManager.default.moveItem(at: next, to: place)
        remove(former)
    }

    /// Removes a folder with all that is in it.
    package static func remove(_ folder: URL) { try? FileManager.default.removeItem(at: folder) }
}

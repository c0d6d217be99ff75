internal import CordonProtocol
internal import Foundation

/// Which file on disk holds what the app calls by a name; itself sealed, so that names stay inside too.
struct FileIndex: Codable, Equatable {
    /// The name on disk of the index itself.
    static let fileName = "index"

    /// Names on disk by the app's names.
    private(set) var files: [String: String] = [:]

    /// The app's names, in order.
    var names: [String] { files.keys.sorted() }

    subscript(name: String) -> String? { files[name] }

    /// Gives a name a file; the one it already has, if any.
    mutating func add(_ name: String) -> String {
        if let file = files[name] { return file }
        let file = UUID().uuidString.lowercased()
        files[name] = file
        return file
    }

    /// Takes a name away; the file that it had.
    mutating func remove(_ name: String) -> String? {
        files.removeValue(forKey: name)
    }
}

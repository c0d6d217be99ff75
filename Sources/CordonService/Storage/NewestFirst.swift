internal import Foundation

/// A record of which a list shows the newest first; found by ``StorageLookup/newest``.
protocol NewestFirst: StoredRecord {
    var id: String { get }
    /// When it was asked for.
    var requested: Date { get }
}

extension NewestFirst {
    /// Where it stands in the list.
    var place: String { StorageTime.newestFirst(requested) + "/" + id }
}

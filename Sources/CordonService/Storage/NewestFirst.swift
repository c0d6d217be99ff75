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

extension StorageReader {
    /// Some records of the list.
    ///
    /// - Parameter last: The record after which they begin, nil for the first.
    func newest<Record: NewestFirst>(
        _ type: Record.Type, after last: Record?, limit: Int
    ) throws(ServiceError) -> [Record] {
        let start = last.map { $0.place + ShownText.separator } ?? ""
        return try records(type, where: .newest, in: start..<"\u{10FFFF}", limit: limit)
    }

    /// A page of the list, and the id after which to go on; nil at the end.
    ///
    /// - Parameter id: The id of the record after which the page begins, nil for the first page.
    /// - Throws: ``ServiceError`` with code `notFound` where there is no record to begin after.
    func newestPage<Record: NewestFirst>(
        _ type: Record.Type, after id: String?, limit: Int
    ) throws(ServiceError) -> (page: [Record], next: String?) {
        var last: Record?
        if let id {
            last = try record(type, id)
            guard last != nil else {
                throw ServiceError(.notFound, "the list has nothing with this id to begin after", place: id)
            }
        }
        // One more than is asked for says whether there are others.
        let found = try newest(type, after: last, limit: limit + 1)
        let page = Array(found.prefix(limit))
        return (page, found.count > limit ? page.last?.id : nil)
    }
}

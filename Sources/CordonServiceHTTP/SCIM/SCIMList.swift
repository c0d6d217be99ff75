import CordonBase
import CordonPolicy
import CordonService
import Hummingbird

/// One page of a list, cut while the store is read (RFC 7644 §3.4.2.4): nothing is kept that is not shown.
struct SCIMList {
    /// How many records are read at a time where a filter has to look at them.
    private static let step = 512

    /// How many resources one list can have: far beyond any directory, so that numbers of clients can be added.
    private static let most = Int(Int32.max)

    /// How many members of groups a page has at the most, unless it has one group alone. A page may be shorter than was asked for (RFC 7644 §3.4.2.4).
    private static let mostMembers = 50_000

    /// What is asked for; nil for every resource.
    let filter: SCIMFilter?
    private let start: Int
    private let count: Int

    /// Reads what a request asks for.
    init(_ request: Request) throws {
        let query = request.uri.queryParameters
        filter = try query["filter"].map { try SCIMFilter(String($0)) }
        start = min(max(1, query["startIndex"].flatMap { Int($0) } ?? 1), Self.most)
        count = min(max(0, query["count"].flatMap { Int($0) } ?? 100), SCIMRoutes.largestPage)
    }

    /// How a list is read.
    struct Source<Record> {
        /// How many records there are.
        let total: () async throws -> Int
        /// Reads records in the order of their ids: after an id, or after so many that are passed by.
        let read: (_ after: String?, _ skipped: Int, _ limit: Int) async throws -> [Record]
        /// The id of a record.
        let id: (Record) -> String
        /// A record with the members that the filter may look at.
        let looked: (Record) async throws -> JSONValue
        /// A record as it is shown.
        let shown: (Record) async throws -> JSONValue
    }

    /// The resources of a page that grows.
    private struct Page {
        private(set) var resources: [JSONValue] = []
        private var members = 0
        /// Whether what comes next is for another page.
        private(set) var isFull = false

        mutating func add(_ resource: JSONValue) {
            members += resource["members"]?.array?.count ?? 0
            isFull = isFull || !resources.isEmpty && members > SCIMList.mostMembers
            if !isFull { resources.append(resource) }
        }
    }

    /// The page of a few resources that are at hand.
    func answer(_ resources: [JSONValue]) -> Response {
        let found = resources.filter { filter?.admits($0) ?? true }
        return answer(Array(found.dropFirst(start - 1).prefix(count)), of: found.count)
    }

    /// The page of a list.
    ///
    /// - Parameter places: Where pages begin that come after those that were answered.
    func answer<Record>(_ source: Source<Record>, _ places: SCIMPlaces, _ name: SCIMPlaces.Name) async throws
        -> Response
    {
        guard filter == nil else { return try await filtered(source) }
        let total = try await source.total()
        guard count > 0, start <= total else { return answer([], of: total) }
        let after = places.take(name, start)
        let records = try await source.read(after, after == nil ? start - 1 : 0, count)
        var page = Page()
        for record in records where !page.isFull {
            try AdministrationDeadline.check()
            page.add(try await source.shown(record))
        }
        let shown = page.resources
        if let last = records.prefix(shown.count).last { places.note(source.id(last), name, start + shown.count) }
        return answer(shown, of: total)
    }

    private func filtered<Record>(_ source: Source<Record>) async throws -> Response {
        var (page, total) = (Page(), 0)
        var last: String?
        while true {
            let records = try await source.read(last, 0, Self.step)
            for record in records {
                try AdministrationDeadline.check()
                guard filter?.admits(try await source.looked(record)) ?? true else { continue }
                total += 1
                guard total >= start, page.resources.count < count, !page.isFull else { continue }
                page.add(try await source.shown(record))
            }
            guard records.count == Self.step, let end = records.last else { return answer(page.resources, of: total) }
            last = source.id(end)
        }
    }

    private func answer(_ page: [JSONValue], of total: Int) -> Response {
        SCIMRoutes.answer([
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": .integer(Int64(total)), "startIndex": .integer(Int64(start)),
            "itemsPerPage": .integer(Int64(page.count)), "Resources": .array(page),
        ])
    }
}

/// Where the next pages of lists begin, so that one who reads a list to its end passes no record by twice.
///
/// Each place is told once: what comes and goes between two pages moves the numbers of those after it, and a place from an earlier
/// reading would be another's. May be used from any thread.
final class SCIMPlaces: Sendable {
    /// Whose list of what.
    struct Name: Hashable {
        var administrator: String
        var list: String
    }

    private struct Place: Hashable {
        var name: Name
        var start: Int
    }

    private static let most = 1_000

    private let known = Locked<[Place: String]>([:])

    /// The id after which a page begins, nil where that is not known.
    func take(_ name: Name, _ start: Int) -> String? {
        known.withLock { $0.removeValue(forKey: Place(name: name, start: start)) }
    }

    /// Remembers where a page begins; full, it forgets the others, which only costs time.
    func note(_ id: String, _ name: Name, _ start: Int) {
        known.withLock { known in
            if known.count >= Self.most { known = [:] }
            known[Place(name: name, start: start)] = id
        }
    }
}

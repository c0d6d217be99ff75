internal import CordonIdentity
internal import CordonService

extension ServiceStorageConformance {
    static let pageChecks = [
        Check("pages of every part come in order, without gaps and without repeats") { storage in
            let ids = ["b", "a", "a0", "a-", "é", "z", "0", "~", "a/1", "a/2", "ab"]
            try await save(ids.map { user($0, name: $0.hasPrefix("a") ? "shared" : $0) }, in: storage)
            for (part, expected) in [
                (RecordPart.all, ["0", "a", "a-", "a/1", "a/2", "a0", "ab", "b", "z", "~", "é"]),
                (.found(by: .name, "shared@example.test"), ["a", "a-", "a/1", "a/2", "a0", "ab"]),
                (.beginning(with: "a/"), ["a/1", "a/2"]), (.beginning(with: "é"), ["é"]),
                (.found(by: .name, "none@example.test"), []), (.beginning(with: "c"), []),
            ] {
                for limit in [1, 2, 100] {
                    let (found, names) = try await pages(of: part, limit: limit, in: storage)
                    try require(found == expected, "pages of \(limit) hold \(found)")
                    try require(names == expected, "pages of \(limit) ids hold \(names)")
                }
                let counts = try await storage.read(tenant) { records in
                    try [0, 3, 100].map { most in try records.count(DirectoryUser.self, of: part, atMost: most) }
                }
                try require(
                    counts == [0, min(3, expected.count), expected.count], "\(expected.count) are counted as \(counts)")
            }
        },
        Check("records come by their ids in the order that was asked for, and are saved and removed in one go") {
            storage in
            try await storage.write(tenant) { transaction in
                try transaction.save(contentsOf: ["a", "b", "c", "d"].map { user($0) })
                try transaction.remove(DirectoryUser.self, ids: ["b", "never there"])
            }
            let found = try await storage.read(tenant) { records in
                try records.records(DirectoryUser.self, ids: ["d", "b", "a"]).map(\.id)
            }
            try require(found == ["d", "a"], "they are \(found)")
            try require(try await users(in: storage).map(\.id) == ["a", "c", "d"], "another one was removed")
        },
        Check("records come by a range of a lookup, by value and then by id") { storage in
            let names = [("a", "m"), ("b", "k"), ("c", "m"), ("d", "z"), ("e", "n")]
            try await save(names.map { user($0.0, name: $0.1) }, in: storage)
            func found(_ range: Range<String>, _ limit: Int) async throws -> [String] {
                try await storage.read(tenant) { records in
                    try records.records(DirectoryUser.self, where: .name, in: range, limit: limit).map(\.id)
                }
            }
            try require(try await found("k"..<"z", 10) == ["b", "a", "c", "e"], "the range is another")
            try require(try await found("l"..<"z", 2) == ["a", "c"], "the limit is not kept")
            try require(try await found("l"..<"m", 10).isEmpty, "the end of the range is in it")
            let counts = try await storage.read(tenant) { records in
                try [0, 2, 10].map { most in
                    try records.count(DirectoryUser.self, where: .name, in: "k"..<"z", atMost: most)
                }
            }
            try require(counts == [0, 2, 4], "the range is counted as \(counts)")
        },
        Check("pages see the changes of their own transaction, and no other organisation's") { storage in
            try await save([user("a"), user("b")], in: storage)
            let seen = try await storage.write(tenant) { transaction in
                try transaction.remove(DirectoryUser.self, "a")
                try transaction.save(user("c"))
                return try transaction.page(DirectoryUser.self, of: .all, after: nil, limit: 9).map(\.id)
            }
            try require(seen == ["b", "c"], "it saw \(seen)")
            let foreign = try await storage.read(otherTenant) { records in
                try records.count(DirectoryUser.self, of: .all, atMost: 9)
            }
            try require(foreign == 0, "another organisation's records were counted")
        },
    ]

    /// The ids of all pages of a part, of records and of bare ids.
    private static func pages(
        of part: RecordPart, limit: Int, in storage: any ServiceStorage
    ) async throws -> (records: [String], ids: [String]) {
        try await storage.read(tenant) { records in
            var (found, names): ([String], [String]) = ([], [])
            while true {
                let page = try records.page(DirectoryUser.self, of: part, after: found.last, limit: limit)
                found += page.map(\.id)
                if page.isEmpty { break }
            }
            while true {
                let page = try records.identifiers(DirectoryUser.self, of: part, after: names.last, limit: limit)
                names += page
                if page.isEmpty { break }
            }
            return (found, names)
        }
    }
}

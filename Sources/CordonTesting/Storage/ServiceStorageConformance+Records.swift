internal import CordonIdentity
internal import CordonService

extension ServiceStorageConformance {
    static let recordChecks = [
        Check("a saved record is read back equal, whatever characters and sizes it has") { storage in
            let odd = DirectoryUser(
                id: "Ünï\u{0}code '\"\\ 🦊", userPrincipalName: "a@b.example",
                displayName: String(repeating: "long ", count: 200_000))
            try await save([odd], in: storage)
            let found = try await storage.read(tenant) { records in
                try records.record(DirectoryUser.self, odd.storageID)
            }
            try require(found == odd, "the record came back changed or not at all")
        },
        Check("ids, and values to be found by, that differ behind a zero byte are apart") { storage in
            let pair = [user("a\u{0}x", name: "n\u{0}x"), user("a\u{0}y", name: "n\u{0}y")]
            try await save(pair, in: storage)
            try require(try await users(in: storage) == pair, "one record took the other's place")
            let (ids, found) = try await storage.read(tenant) { records in
                (
                    try records.identifiers(DirectoryUser.self, of: .all, after: pair[0].id, limit: 5),
                    try records.records(DirectoryUser.self, where: (.name, pair[0].userPrincipalName))
                )
            }
            try require(ids == [pair[1].id], "a page goes on behind the wrong record")
            try require(found == [pair[0]], "a value finds another's record")
            try await storage.write(tenant) { try $0.remove(DirectoryUser.self, pair[0].id) }
            try require(try await users(in: storage) == [pair[1]], "removing one removed the other")
        },
        Check("saving again replaces, removing removes, and removing nothing is no fault") { storage in
            try await save([user("a", name: "one"), user("a", name: "two")], in: storage)
            let replaced = try await users(in: storage)
            try require(replaced == [user("a", name: "two")], "the second value did not replace the first")
            try await storage.write(tenant) { transaction in
                try transaction.remove(DirectoryUser.self, "a")
                try transaction.remove(DirectoryUser.self, "never there")
            }
            try require(try await users(in: storage).isEmpty, "the record is still there")
        },
        Check("records come ordered by the bytes of their ids") { storage in
            let ids = ["b", "a", "a0", "a-", "é", "z", "0", "~"]
            try await save(ids.map { user($0) }, in: storage)
            let found = try await users(in: storage).map(\.id)
            try require(found == ["0", "a", "a-", "a0", "b", "z", "~", "é"], "the order is \(found)")
        },
        Check("kinds with one id are apart") { storage in
            try await storage.write(tenant) { transaction in
                try transaction.save(user("same"))
                try transaction.save(GroupEntry(id: "same", displayName: "group"))
                try transaction.remove(GroupEntry.self, "same")
            }
            try require(try await users(in: storage).count == 1, "removing a group removed a person")
        },
        Check("organisations do not see or change each other's records") { storage in
            try await save([user("a")], in: storage)
            let foreign = try await storage.write(otherTenant) { transaction in
                try transaction.remove(DirectoryUser.self, "a")
                try transaction.save(user("b"))
                let byName = try transaction.records(DirectoryUser.self, where: (.name, "a@example.test"))
                return try transaction.record(DirectoryUser.self, "a") != nil || !byName.isEmpty
            }
            try require(!foreign, "another organisation's record was found")
            try require(try await users(in: storage) == [user("a")], "another organisation changed the records")
        },
        Check("lookups follow the record that they belong to") { storage in
            try await save([user("a", name: "old"), user("b", name: "other")], in: storage)
            try await save([user("a", name: "new")], in: storage)
            let (old, new) = try await storage.read(tenant) { records in
                (
                    try records.records(DirectoryUser.self, where: (.name, "old@example.test")),
                    try records.records(DirectoryUser.self, where: (.name, "new@example.test"))
                )
            }
            try require(old.isEmpty, "a record is found by a value that it no longer has")
            try require(new == [user("a", name: "new")], "a record is not found by its new value")
            try await storage.write(tenant) { transaction in
                try transaction.remove(DirectoryUser.self, "a")
            }
            let gone = try await storage.read(tenant) { records in
                try records.records(DirectoryUser.self, where: (.name, "new@example.test"))
            }
            try require(gone.isEmpty, "a removed record is found by its lookup")
        },
    ]

    static func user(_ id: String, name: String? = nil) -> DirectoryUser {
        DirectoryUser(id: id, userPrincipalName: "\(name ?? id)@example.test", displayName: name ?? id)
    }

    static func save(_ users: [DirectoryUser], in storage: any ServiceStorage) async throws {
        try await storage.write(tenant) { transaction in
            for user in users { try transaction.save(user) }
        }
    }

    static func users(in storage: any ServiceStorage) async throws -> [DirectoryUser] {
        try await storage.read(tenant) { records in try records.records(DirectoryUser.self) }
    }
}

internal import CordonIdentity
internal import CordonProtocol
internal import CordonService

extension ServiceStorageConformance {
    static let transactionChecks = [
        Check("a brief read sees every change that returned, and nothing of another organisation") { storage in
            for name in ["first", "second"] {
                try await save([user("a", name: name)], in: storage)
                let found = try await storage.readBriefly(tenant) { try $0.record(DirectoryUser.self, "a") }
                try require(found == user("a", name: name), "a brief read does not see a change that returned")
            }
            let strange = try await storage.readBriefly(otherTenant) { try $0.record(DirectoryUser.self, "a") }
            try require(strange == nil, "a brief read sees another organisation's record")
        },
        Check("a write behind others is kept like any other, or leaves nothing where it throws") { storage in
            try await save([user("a", name: "first")], in: storage)
            let seen = try await storage.writeBehind(tenant) { transaction in
                let known = try transaction.record(DirectoryUser.self, "a")
                try transaction.save(user("b"))
                return known
            }
            try require(seen == user("a", name: "first"), "it does not see a change that returned before")
            try? await storage.writeBehind(tenant) { transaction in
                try transaction.save(user("c"))
                throw ServiceError(.conflict, "given up")
            }
            let left = try await users(in: storage)
            try require(left == [user("a", name: "first"), user("b")], "there are \(left)")
        },
        Check("a transaction that throws leaves nothing behind, lookups included") { storage in
            try await save([user("a", name: "kept"), user("gone", name: "removed")], in: storage)
            do {
                try await storage.write(tenant) { transaction in
                    try transaction.save(user("a", name: "changed"))
                    try transaction.save(user("new"))
                    try transaction.remove(DirectoryUser.self, "gone")
                    throw ServiceError(.conflict, "given up")
                }
                throw ProgramError(.failed, reason: "the error of the body did not come out")
            } catch let error as ServiceError {
                try require(error.code == .conflict, "another error came out: \(error)")
            }
            let left = try await users(in: storage)
            try require(left == [user("a", name: "kept"), user("gone", name: "removed")], "something stayed: \(left)")
            let found = try await storage.read(tenant) { records in
                try records.records(DirectoryUser.self, where: (.name, "kept@example.test")).count
                    + records.records(DirectoryUser.self, where: (.name, "changed@example.test")).count * 10
            }
            try require(found == 1, "the lookups are not those of the record")
        },
        Check("a transaction sees its own changes") { storage in
            let seen = try await storage.write(tenant) { transaction in
                try transaction.save(user("a"))
                try transaction.save(user("b"))
                try transaction.remove(DirectoryUser.self, "a")
                return try transaction.records(DirectoryUser.self)
            }
            try require(seen == [user("b")], "it saw \(seen)")
        },
        Check("no change is lost when many write at once") { storage in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        try await storage.write(tenant) { transaction in
                            var settings = try transaction.settings()
                            settings.targetingRevision += 1
                            try transaction.save(settings)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let revision = try await storage.read(tenant) { records in
                try records.settings().targetingRevision
            }
            try require(revision == 64, "64 changes added up to \(revision)")
        },
        Check("a read sees one state, however much is written meanwhile") { storage in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for round in 0..<32 {
                    group.addTask {
                        try await storage.write(tenant) { transaction in
                            try transaction.save(user("a", name: "round \(round)"))
                            try transaction.save(user("b", name: "round \(round)"))
                            return true
                        }
                    }
                    group.addTask {
                        try await storage.read(tenant) { records in
                            let names = try records.records(DirectoryUser.self).map(\.displayName)
                            return names.isEmpty || names.count == 2 && names[0] == names[1]
                        }
                    }
                }
                for try await consistent in group {
                    try require(consistent, "a read saw half of a write")
                }
            }
        },
    ]
}

internal import CordonIdentity
internal import CordonProtocol
internal import CordonService

extension ServiceStorageConformance {
    static let auditChecks = [
        Check("audit records come back unchanged, in order and in pages") { storage in
            let written = try await append(5, in: storage)
            let (all, page, one, last) = try await storage.read(tenant) { records in
                (
                    try records.auditRecords(AuditQuery()),
                    try records.auditRecords(AuditQuery(after: 2, limit: 2)),
                    try records.auditRecords(AuditQuery(action: "test.4", target: "thing/4")),
                    try records.lastAuditRecord()
                )
            }
            try require(all == written, "the records came back changed")
            try require(page.map(\.sequence) == [3, 4], "the page holds \(page.map(\.sequence))")
            try require(one.map(\.sequence) == [4], "the filter let \(one.map(\.sequence)) through")
            try require(last == written.last, "the last record is another one")
            let newest = try await storage.read(tenant) { records in
                try [AuditQuery(before: 5, limit: 2), AuditQuery(after: 1, before: 4)].map { query in
                    try records.auditRecords(query).map(\.sequence)
                }
            }
            try require(newest == [[4, 3], [3, 2]], "the newest before a record are \(newest)")
        },
        Check("an audit record that does not follow the last one is refused") { storage in
            let written = try await append(2, in: storage)
            var edited = AuditRecord(
                after: written.last, tenant: tenant, time: 9, actor: .init(.service, id: "test"), action: "x",
                target: "y")
            edited.time += 1
            for wrong in [written[1], written[0], edited] {
                do {
                    try await storage.write(tenant) { transaction in
                        try transaction.append(wrong)
                    }
                    throw ProgramError(.failed, reason: "record \(wrong.sequence) was taken")
                } catch let error as ServiceError {
                    try require(error.code == .internalError, "another error came out: \(error)")
                }
            }
            let count = try await storage.read(tenant) { records in
                try records.auditRecords(AuditQuery()).count
            }
            try require(count == 2, "the log has \(count) records")
        },
        Check("a transaction that throws leaves no audit record") { storage in
            _ = try await append(1, in: storage)
            try? await storage.write(tenant) { transaction in
                try transaction.append(record(2, after: try transaction.lastAuditRecord()))
                throw ServiceError(.conflict, "given up")
            }
            let next = try await append(1, in: storage)
            try require(next.map(\.sequence) == [2], "the log goes on at \(next.map(\.sequence))")
        },
        Check("every organisation has an audit log of its own") { storage in
            _ = try await append(3, in: storage)
            let last = try await storage.read(otherTenant) { records in
                try records.lastAuditRecord()
            }
            try require(last == nil, "another organisation's record was found")
        },
    ]

    private static func append(_ count: Int, in storage: any ServiceStorage) async throws -> [AuditRecord] {
        try await storage.write(tenant) { transaction in
            var written: [AuditRecord] = []
            for _ in 0..<count {
                let last = try transaction.lastAuditRecord()
                let next = record((last?.sequence ?? 0) + 1, after: last)
                try transaction.append(next)
                written.append(next)
            }
            return written
        }
    }

    private static func record(_ number: Int64, after last: AuditRecord?) -> AuditRecord {
        AuditRecord(
            after: last, tenant: tenant, time: 1_800_000_000 + number, actor: .init(.administrator, id: "ada"),
            action: "test.\(number)", target: "thing/\(number)", details: ["name": "Ünï\"\\\n\u{1}🦊", "n": "\(number)"])
    }
}

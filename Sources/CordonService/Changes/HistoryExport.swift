internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Crypto
public import Foundation

extension VersionHistory {
    /// Everything that says which rules any registration had at any moment, and who made them, as JSON Lines in pieces of whole
    /// lines: a `history` line, each `version` of policies and filters with the `document` that it names by digest, each
    /// `registration`, each `delivery` of rules to one, and after the `audit` line the whole audit log with its signed checkpoint.
    ///
    /// The newest audit record, `history.seal`, holds the SHA-256 of all lines before the `audit` line, that line included, so that
    /// the checkpoint vouches for them too. Secret values are digests, as in every version. The export answers for every moment
    /// before its `until`, whatever is written while it is read. The stream's errors are ``ServiceError``.
    ///
    /// - Throws: ``ServiceError`` with code `forbidden` for a caller who may not read the audit log and every policy.
    public func export(
        as administrator: Administrator
    ) async throws(ServiceError) -> AsyncThrowingStream<Data, any Error> {
        let store = administration.store
        try await store.require(.readAudit, of: administrator, call: "exportHistory")
        let until = try await store.change(for: administrator, call: "exportHistory") { change in
            guard administrator.mayEverywhere(.read) else {
                throw ServiceError(
                    .forbidden, "the roles of \(administrator.id) are about some policies or people only")
            }
            let until = change.now.ISO8601Format()
            try change.audit(AuditRecord.Actor(administrator), "history.export", "history", details: ["until": until])
            return change.now
        }
        let pieces = HistoryPieces(of: administration, until: until, as: administrator)
        return AsyncThrowingStream { try await pieces.next() }
    }
}

/// Reads an export piece by piece, each in a transaction of its own.
private actor HistoryPieces {
    private enum Stage {
        case head
        /// The id of the last record that was handed out, nil for none.
        case versions(after: String?)
        case registrations(after: String?)
        case deliveries(after: String?)
        case end
        case audit(AuditPages)
        case done
    }

    /// The most records of a piece.
    private static let pageSize = 500

    private let administration: Administration
    private let administrator: Administrator
    private let until: Date
    private var stage = Stage.head
    private var digest = SHA256()
    private var lines = 0
    /// The documents that were handed out already, by digest.
    private var documents: Set<String> = []
    /// The digest of what the protections among some policies amount to, nil where there are none.
    private var merged: [[PolicyReference]: String?] = [:]

    init(of administration: Administration, until: Date, as administrator: Administrator) {
        self.administration = administration
        self.administrator = administrator
        self.until = until
    }

    private var store: TenantStore { administration.store }

    /// The next piece, nil after the last one.
    func next() async throws(ServiceError) -> Data? {
        while true {
            let piece: Data
            switch stage {
            case .head: piece = try head()
            case .versions(let last): piece = try await versions(after: last)
            case .registrations(let last): piece = try await registrations(after: last)
            case .deliveries(let last): piece = try await deliveries(after: last)
            case .end: piece = try await end()
            case .audit(var pages):
                guard let page = try await pages.next() else {
                    stage = .done
                    continue
                }
                stage = .audit(pages)
                return page
            case .done: return nil
            }
            if !piece.isEmpty { return piece }
        }
    }

    /// Counts lines and takes them into the digest.
    private func taking(_ lines: [Data]) -> Data {
        let piece = lines.reduce(into: Data()) { $0 += $1 }
        digest.update(data: piece)
        self.lines += lines.count
        return piece
    }

    private func head() throws(ServiceError) -> Data {
        stage = .versions(after: nil)
        let head = HistoryHead(
            tenant: administrator.tenant.rawValue, until: until,
            numericConflict: administration.configuration.numericConflict.rawValue)
        return taking([try HistoryLine("history", head).text()])
    }

    /// Versions, each behind its document where that was not handed out yet; of one transaction, so that none is without.
    private func versions(after last: String?) async throws(ServiceError) -> Data {
        let (until, known) = (until, documents)
        let (page, kept) = try await store.read(for: administrator.tenant) { records in
            let page = try records.page(EntityVersion.self, of: .all, after: last, limit: Self.pageSize)
            let needed = Set(page.filter { $0.time < until }.compactMap(\.digest)).subtracting(known)
            return (page, try records.records(VersionDocument.self, ids: needed.sorted()))
        }
        stage = page.count == Self.pageSize ? .versions(after: page.last?.storageID) : .registrations(after: nil)
        documents.formUnion(kept.map(\.digest))
        var lines = try kept.map { document throws(ServiceError) in
            try HistoryLine("document", HistoryDocument(document)).text()
        }
        for var version in page where version.time < until {
            if version.superseded.map({ $0 >= until }) ?? false { version.superseded = nil }
            lines.append(try HistoryLine("version", version).text())
        }
        return taking(lines)
    }

    private func registrations(after last: String?) async throws(ServiceError) -> Data {
        let page = try await store.read(for: administrator.tenant) {
            try $0.page(Registration.self, of: .all, after: last, limit: Self.pageSize)
        }
        stage = page.count == Self.pageSize ? .registrations(after: page.last?.id) : .deliveries(after: nil)
        var lines: [Data] = []
        for registration in page where registration.created < until {
            lines.append(
                try HistoryLine("registration", HistoryRegistration(registration, until: until)).text())
        }
        return taking(lines)
    }

    /// What was delivered, and behind it the document of what its protections amount to where that was not handed out yet.
    private func deliveries(after last: String?) async throws(ServiceError) -> Data {
        let (known, administrator, until) = (merged, administrator, until)
        let conflict = administration.configuration.numericConflict
        let (page, found) = try await store.read(for: administrator.tenant) { records in
            let page = try records.page(DeliveredRules.self, of: .all, after: last, limit: Self.pageSize)
            var found: [[PolicyReference]: HistoryDocument?] = [:]
            for rules in page
            where rules.delivered < until && known[rules.policies] == nil && found[rules.policies] == nil {
                let whole = try VersionHistory.rules(rules, known: until, conflict, seenBy: administrator, in: records)
                found[rules.policies] = .some(whole.settings.map(HistoryDocument.init))
            }
            return (page, found)
        }
        stage = page.count == Self.pageSize ? .deliveries(after: page.last?.storageID) : .end
        var lines: [Data] = []
        for (policies, document) in found {
            merged[policies] = .some(document?.digest)
            guard let document, documents.insert(document.digest).inserted else { continue }
            lines.append(try HistoryLine("document", document).text())
        }
        for var rules in page where rules.delivered < until {
            if rules.applied.map({ $0 >= until }) ?? false { rules.applied = nil }
            if rules.superseded.map({ $0 >= until }) ?? false { rules.superseded = nil }
            let settings = merged[rules.policies] ?? nil
            lines.append(try HistoryLine("delivery", HistoryDelivery(rules: rules, settings: settings)).text())
        }
        return taking(lines)
    }

    /// The line before the audit log, which from here on says what all lines so far were.
    private func end() async throws(ServiceError) -> Data {
        let piece = taking([try HistoryLine("audit", HistoryEnd(lines: lines)).text()])
        let said = ["digest": digest.finalize().hex, "lines": String(lines)]
        let (administration, administrator) = (administration, administrator)
        let (seal, end) = try await store.change(for: administrator, call: "exportHistory") { change in
            try change.audit(AuditRecord.Actor(administrator), "history.seal", "history", details: said)
            let last = try change.lastAuditRecord()
            let seal = try administration.seal(last, of: change.tenant, at: change.now, in: change)
            return (seal, last?.sequence ?? 0)
        }
        stage = .audit(try AuditPages(of: administrator.tenant, upTo: end, closedBy: seal, in: store))
        return piece
    }
}

internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// Logs that an administrator asks for. Cordon sends nothing before the person has seen it and agreed (SRV-CI-015, SRV-CI-024).
///
/// Use it as ``AppProtection/logs``.
public actor LogRequests: AccountFollower {
    /// How long the person may take.
    private static let consentLimit = Duration.seconds(300)

    private let context: ProtectionContext
    private let service: ServiceAccess
    private let diagnostics: ProtectionDiagnostics
    private let ledger: TelemetryLedger
    /// Whether the person is asked while requests are being answered; nil while none is.
    private var answering: Bool?

    /// The executor that all parts of the protection share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    init(
        _ context: ProtectionContext, service: ServiceAccess, diagnostics: ProtectionDiagnostics,
        ledger: TelemetryLedger
    ) {
        self.context = context
        self.service = service
        self.diagnostics = diagnostics
        self.ledger = ledger
    }

    /// Answers every open request for logs: asks the person, and sends what they agreed to, once.
    ///
    /// Cordon calls it after a check-in that brought a request; an app calls it when the person is there to be asked. Each
    /// outcome is posted as ``ProtectionEvent/logs(_:)``.
    public func answerRequests() async {
        await answer(asking: true)
    }

    /// Answers what can be answered, each request once; what is there to be asked stays open where the person is not to be asked now.
    /// A call that is under way already answers what comes meanwhile.
    private func answer(asking: Bool) async {
        if let before = answering {
            answering = before || asking
            return
        }
        answering = asking
        defer { answering = nil }
        dropLapsedLogOrders()
        var answered: Set<String> = []
        while var order = nextLogOrder(but: answered) {
            answered.insert(order.request.id)
            guard let record = context.accounts[order.account] else { continue }
            guard context.telemetry.isOn else {
                if answering == true { report(.telemetryOff, of: order) }
                continue
            }
            if order.state == .open { await ask(about: &order, of: record) }
            if order.state == .agreed { await send(order, of: record) }
        }
    }

    private func nextLogOrder(but answered: Set<String>) -> LogOrder? {
        context.pending.logOrders?.first {
            !answered.contains($0.request.id) && ($0.state == .agreed || $0.state == .open && answering == true)
        }
    }

    /// Records the requests of an envelope, each once, and answers them in its own time; whether all are noted.
    func logsRequested(_ requests: [LogRequest], of account: AccountID) -> Bool {
        // A command before it may have removed the account.
        guard context.accounts[account] != nil else { return false }
        let known = Set((context.pending.logOrders ?? []).map(\.request.id))
        let now = context.configuration.clock.now()
        let new = requests.map { LogOrder(account: account, request: $0) }
            .filter { !known.contains($0.request.id) && $0.isWanted(at: now) }
        guard !new.isEmpty else { return true }
        do { try context.pending.change { $0.logOrders = ($0.logOrders ?? []) + new } } catch {
            context.configuration.logger.error("a request for logs could not be noted")
            return false
        }
        context.startUnattended { await self.answerRequests() }
        return true
    }

    /// What has been agreed to is sent; a person who may take their time is asked at the start alone, and no caller waits for it.
    func performDueWork(isFirst: Bool) async {
        if isFirst {
            removeUnownedLogs()
            context.startUnattended { await self.answerRequests() }
        } else {
            await answer(asking: false)
        }
    }

    /// What the person agreed to and could not be sent waits for an hour, or for the round of an earlier check-in.
    func nextAttempts() -> [Date] {
        let now = context.configuration.clock.now()
        let waits = (context.pending.logOrders ?? []).contains { order in
            order.state == .agreed && order.isWanted(at: now) && context.accounts[order.account] != nil
        }
        guard waits, context.telemetry.isOn else { return [] }
        return [now + context.intervals.afterWaiting(since: nil, at: now)]
    }

    /// What the log says of the account goes, what waits to be sent, and the requests: an answer that comes later is for none.
    func eraseLogs(of account: ManagedAccount) -> [String] {
        var failures: [String] = []
        func note(_ removal: () throws(ProtectionError) -> Void) {
            do throws(ProtectionError) { try removal() } catch { failures.append(error.reason) }
        }
        note { () throws(ProtectionError) in
            try context.configuration.logFile?.forget([account.id.rawValue, account.userPrincipalName])
        }
        let orders = (context.pending.logOrders ?? []).filter { $0.account == account.id }
        for order in orders { note { () throws(ProtectionError) in try file(of: order).remove() } }
        guard !orders.isEmpty else { return failures }
        note { () throws(ProtectionError) in
            try context.pending.change { $0.logOrders?.removeAll { $0.account == account.id } }
        }
        return failures
    }

    /// Removes what waits to be sent for a request of which nothing is known any more, such as after what is pending was damaged.
    private func removeUnownedLogs() {
        // Listed first: another process of the app notes a request before it writes what is sent.
        guard let files = try? context.stateFolder.files(), let condition = try? context.pending.load() else { return }
        if case .newer = condition { return }
        let owned = Set((context.pending.logOrders ?? []).map { file(of: $0).url.lastPathComponent })
        for file in files {
            let name = file.url.lastPathComponent
            if name.hasPrefix(Self.filePrefix), !owned.contains(name) { try? file.remove() }
        }
    }

    private func dropLapsedLogOrders() {
        let now = context.configuration.clock.now()
        let lapsed = (context.pending.logOrders ?? []).filter { !$0.isWanted(at: now) }
        guard !lapsed.isEmpty else { return }
        for order in lapsed { try? file(of: order).remove() }
        try? context.pending.change { $0.logOrders?.removeAll { lapsed.contains($0) } }
    }

    private func ask(about order: inout LogOrder, of record: RegistrationRecord) async {
        let account = record.account
        guard let confirm = context.configuration.confirmLogUpload else { return report(.nobodyToAsk, of: order) }
        let content: Data
        do { content = try diagnostics.logUpload(for: account) } catch { return report(.failed(error), of: order) }
        let answer = await Deadline.answer(within: Self.consentLimit, by: context.configuration.clock) {
            await confirm(account, content)
        }
        guard let answer else { return report(.unanswered, of: order) }
        // The account may have left, or begun to, while the person was thinking.
        guard mayAnswer(order, of: record) else { return }
        order.state = answer ? .agreed : .over
        order.agreed = answer ? LogOrder.digest(of: content) : nil
        do {
            if answer { try file(of: order).write(content) }
            // Another process may have let the account leave since.
            guard try keep(order) else { return try file(of: order).remove() }
            if !answer { report(.declined, of: order) }
        } catch {
            order.state = .open
            report(.failed(error), of: order)
        }
    }

    private func send(_ order: LogOrder, of record: RegistrationRecord) async {
        var order = order
        // What is noted, or sent, of an account that has left would name it again.
        guard mayAnswer(order, of: record) else { return }
        guard let content = try? file(of: order).read(), LogOrder.digest(of: content) == order.agreed else {
            order.state = .open
            return end(
                order,
                .postponed(ProtectionError(.stateUnreadable, "what was to be sent is not what the person agreed to")))
        }
        do {
            let session = try await service.session(for: order.account, discovery: record.discovery)
            guard mayAnswer(order, of: record) else { return }
            if !order.isNoted {
                let event = TelemetryEvent(
                    name: .sdkAction, account: order.account, tenant: record.account.tenant,
                    time: Int64(context.configuration.clock.now().timeIntervalSince1970),
                    properties: [.action: "logUpload", .bytes: String(content.count)])
                guard ledger.record([event], to: .service, at: context.configuration.clock.now()) else { return }
                order.isNoted = true
                _ = try? keep(order)
            }
            try await session.client.send(
                logs: content, request: order.request.id, registration: record.registrationID, token: session.token)
            order.state = .over
            end(order, .sent(bytes: content.count))
        } catch {
            context.log("logs could not be sent", error)
            let reason = ProtectionError(.serviceUnusable, error.reason)
            guard case .refused(let problem) = error, [404, 409, 413].contains(problem.status) else {
                return report(.postponed(reason), of: order)
            }
            order.state = .over
            end(order, .failed(reason))
        }
    }

    private func end(_ order: LogOrder, _ end: LogUploadReport.End) {
        try? file(of: order).remove()
        do { _ = try keep(order) } catch {
            context.configuration.logger.error("an answer to a request for logs could not be kept")
        }
        report(end, of: order)
    }

    /// Whether a request is still there, and its account in the same registration, with no wipe or leave begun.
    private func mayAnswer(_ order: LogOrder, of record: RegistrationRecord) -> Bool {
        context.accounts.holds(record) && context.accounts.isStaying(order.account) && !context.pending.hasLeft(record)
            && context.pending.logOrders?.contains { $0.request.id == order.request.id } == true
    }

    /// Keeps how far an order is, where there is a record of it; whether there is.
    private func keep(_ order: LogOrder) throws(ProtectionError) -> Bool {
        var isThere = false
        try context.pending.change { work in
            guard let index = work.logOrders?.firstIndex(where: { $0.request.id == order.request.id }) else { return }
            work.logOrders?[index] = order
            isThere = true
        }
        return isThere
    }

    private func report(_ end: LogUploadReport.End, of order: LogOrder) {
        context.events.post(.logs(LogUploadReport(account: order.account, requestID: order.request.id, end: end)))
    }

    /// What waits to be sent, kept as the person saw it, so that pieces of it fit together.
    private func file(of order: LogOrder) -> StateFile {
        context.stateFolder.file(Self.filePrefix + FolderName.hash(order.request.id))
    }

    private static let filePrefix = "logs-"
}

internal import CordonIdentity
internal import CordonProtocol
internal import Foundation
internal import Logging

/// Logs that an administrator asks for: nothing is sent before the person has seen it and agreed (SRV-CI-015, SRV-CI-024).
extension AppProtection {
    /// How long the person may take.
    private static var consentLimit: Duration { .seconds(300) }

    /// Answers every request for logs that is open: asks the person, and sends what they agreed to, once.
    ///
    /// Called by itself after a check-in that brought a request; an app calls it when the person is there to be asked. How each
    /// request ended is posted as ``ProtectionEvent/logs(_:)``.
    public func answerLogRequests() async {
        await answerLogRequests(asking: true)
    }

    /// Answers what can be answered, each request once; what is there to be asked stays open where nobody is to be asked now.
    /// Whoever is at it already answers what comes meanwhile.
    func answerLogRequests(asking: Bool) async {
        if let isAsking = answeringLogs {
            answeringLogs = isAsking || asking
            return
        }
        answeringLogs = asking
        defer { answeringLogs = nil }
        dropLapsedLogOrders()
        var answered: Set<String> = []
        while var order = nextLogOrder(but: answered) {
            answered.insert(order.request.id)
            guard let record = records[order.account] else { continue }
            guard telemetry.isOn else {
                if answeringLogs == true { report(.telemetryOff, of: order) }
                continue
            }
            if order.state == .open { await ask(about: &order, of: record.account) }
            if order.state == .agreed { await send(order, of: record) }
        }
    }

    private func nextLogOrder(but answered: Set<String>) -> LogOrder? {
        pending.logOrders?.first {
            !answered.contains($0.request.id) && ($0.state == .agreed || $0.state == .open && answeringLogs == true)
        }
    }

    /// Notes the requests of an envelope, each once, and answers them in its own time.
    func noteLogRequests(_ requests: [LogRequest], for account: AccountID) {
        // A command before it may have removed the account.
        guard records[account] != nil else { return }
        let known = Set((pending.logOrders ?? []).map(\.request.id))
        let now = configuration.clock.now()
        let new = requests.map { LogOrder(account: account, request: $0) }
            .filter { !known.contains($0.request.id) && $0.isWanted(at: now) }
        guard !new.isEmpty else { return }
        do { try pending.change { $0.logOrders = ($0.logOrders ?? []) + new } } catch {
            return configuration.logger.error("a request for logs could not be noted")
        }
        Task { await self.answerLogRequests() }
    }

    /// Removes what waits to be sent of an account; what could not be removed. The requests go with the life record's other
    /// lines about the account.
    func removeLogs(of account: AccountID) -> [String] {
        (pending.logOrders ?? []).filter { $0.account == account }.compactMap { order in
            do throws(ProtectionError) { try file(of: order).remove() } catch { return error.reason }
            return nil
        }
    }

    private func dropLapsedLogOrders() {
        let now = configuration.clock.now()
        let lapsed = (pending.logOrders ?? []).filter { !$0.isWanted(at: now) }
        guard !lapsed.isEmpty else { return }
        for order in lapsed { try? file(of: order).remove() }
        try? pending.change { $0.logOrders?.removeAll { lapsed.contains($0) } }
    }

    private func ask(about order: inout LogOrder, of account: ManagedAccount) async {
        guard let confirm = configuration.confirmLogUpload else { return report(.nobodyToAsk, of: order) }
        let content: Data
        do { content = try logUpload(for: account) } catch { return report(.failed(error), of: order) }
        let answer = await Deadline.answer(within: Self.consentLimit, by: configuration.clock) {
            await confirm(account, content)
        }
        guard let answer else { return report(.unanswered, of: order) }
        order.state = answer ? .agreed : .over
        do throws(ProtectionError) {
            if answer { try file(of: order).write(content) }
            // The account may have been removed while the person was thinking.
            guard try keep(order) else { return try file(of: order).remove() }
            if !answer { report(.declined, of: order) }
        } catch {
            order.state = .open
            report(.failed(error), of: order)
        }
    }

    private func send(_ order: LogOrder, of record: RegistrationRecord) async {
        var order = order
        guard let content = try? file(of: order).read() else {
            order.state = .open
            return end(order, .postponed(ProtectionError(.stateUnreadable, "what was to be sent cannot be read")))
        }
        if !order.isNoted {
            let event = TelemetryEvent(
                name: .sdkAction, account: order.account, tenant: record.account.tenant,
                time: Int64(configuration.clock.now().timeIntervalSince1970),
                properties: [.action: "logUpload", .bytes: String(content.count)])
            guard ledger.note([event], to: .service, at: configuration.clock.now()) else { return }
            order.isNoted = true
            _ = try? keep(order)
        }
        do throws(ServiceFailure) {
            let session = try await service.session(for: order.account, discovery: record.discovery)
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
        do throws(ProtectionError) { _ = try keep(order) } catch {
            configuration.logger.error("an answer to a request for logs could not be kept")
        }
        report(end, of: order)
    }

    /// Keeps how far an order is; false where nobody knows of it any more.
    private func keep(_ order: LogOrder) throws(ProtectionError) -> Bool {
        try pending.change { work in
            guard let index = work.logOrders?.firstIndex(where: { $0.request.id == order.request.id }) else { return }
            work.logOrders?[index] = order
        }
        return pending.logOrders?.contains { $0.request.id == order.request.id } ?? false
    }

    private func report(_ end: LogUploadReport.End, of order: LogOrder) {
        broadcast.post(.logs(LogUploadReport(account: order.account, requestID: order.request.id, end: end)))
    }

    /// What waits to be sent, kept as the person saw it, so that pieces of it fit together.
    private func file(of order: LogOrder) -> StateFile {
        stateFolder.file("logs-" + FolderName.hash(order.request.id))
    }
}

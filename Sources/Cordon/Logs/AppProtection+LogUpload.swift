internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension AppProtection {
    /// What an organisation gets when it asks for logs: one line of JSON, the diagnostic report about this account alone, then
    /// Cordon's own log without verbose lines, the oldest first, without what names another account.
    ///
    /// - Throws: ``ProtectionError`` with code `damagedContent` when the report has no JSON form.
    func logUpload(for account: ManagedAccount) throws(ProtectionError) -> Data {
        var report = diagnosticReport()
        report.accounts.removeAll { $0.id != account.id }
        report.denials.removeAll { $0.account != account.id }
        report.waitingUnenrollments = pending.unenrollments.count { $0.account == account.id }
        // Where the app keeps its files may tell who uses the device.
        report.logs = []
        guard var content = try? MessageCoding.encode(report) else {
            throw ProtectionError(.damagedContent, "the diagnostic report has no JSON form")
        }
        content.append(UInt8(ascii: "\n"))
        let others = (pending.registered.map(\.account) + records.values.map(\.account)).filter { $0.id != account.id }
        if let log = configuration.logFile {
            content += log.text(
                without: others.flatMap { [$0.id.rawValue, $0.userPrincipalName] },
                atMost: LogRequest.largestUpload - content.count)
        }
        return content
    }
}

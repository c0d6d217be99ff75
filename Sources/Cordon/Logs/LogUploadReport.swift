public import CordonIdentity

/// What became of logs that an administrator asked for (SRV-CI-015).
public struct LogUploadReport: Sendable, Equatable {
    /// How it ended, or why it has not ended yet.
    public enum End: Sendable, Equatable {
        /// The service has everything, so many bytes.
        case sent(bytes: Int)
        /// The person said no, and is not asked again.
        case declined
        /// The person did not answer; Cordon asks again at the next start.
        case unanswered
        /// The app has no way to ask the person (``ProtectionConfiguration/confirmLogUpload``): nothing is sent.
        case nobodyToAsk
        /// Telemetry is switched off: nothing is sent, and the person is not asked.
        case telemetryOff
        /// The service did not get everything; ``AppProtection/performDueWork()`` tries again.
        case postponed(ProtectionError)
        /// It cannot be sent, or the service does not want it any more.
        case failed(ProtectionError)

        /// The end in one word, for a log or an app's own records.
        public var name: String {
            switch self {
            case .sent: "sent"
            case .declined: "declined"
            case .unanswered: "unanswered"
            case .nobodyToAsk: "nobodyToAsk"
            case .telemetryOff: "telemetryOff"
            case .postponed: "postponed"
            case .failed: "failed"
            }
        }
    }

    /// The account whose organisation asked.
    public let account: AccountID
    /// The request's id.
    public let requestID: String
    /// How it ended, or why it has not ended yet.
    public let end: End

    /// Makes a report.
    public init(account: AccountID, requestID: String, end: End) {
        self.account = account
        self.requestID = requestID
        self.end = end
    }
}

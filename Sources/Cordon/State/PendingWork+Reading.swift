internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension PendingWork.Record: JSONReadable {
    init(_ members: JSONMembers) throws(PolicyError) {
        self.init(
            version: try members.number("version"), registered: try members.list("registered"),
            unenrollments: try members.decodeList(PendingWork.Unenrollment.self, "unenrollments"),
            refusals: try members.decodeList(RefusedEnvelope.self, "refusals"),
            remediations: try members.decodeList(PendingWork.Remediation.self, "remediations"),
            remediated: try members.decodeList(RemediationResult.self, "remediated"),
            latestMoment: try members.time("latestMoment"),
            isMomentInDoubt: try members.optionalFlag("isMomentInDoubt"),
            runTime: try members.readIfPresent("runTime"), telemetryEnabled: try members.flag("telemetryEnabled"),
            outcomes: try members.decodeIfPresent([PendingWork.Outcome].self, "outcomes"),
            logOrders: try members.decodeIfPresent([LogOrder].self, "logOrders"),
            begunCommands: try members.decodeIfPresent([PendingWork.BegunCommand].self, "begunCommands"),
            leaving: try members.decodeIfPresent([AccountID].self, "leaving"),
            leavingSessions: try members.decodeIfPresent([AccountID].self, "leavingSessions"),
            settledWipes: try members.decodeIfPresent([String].self, "settledWipes"),
            deviceAccount: try members.optionalText("deviceAccount").map { AccountID($0) },
            placeHolder: try members.optionalText("placeHolder").map { AccountID($0) })
    }
}

extension PendingWork.Registered: JSONReadable {
    init(_ members: JSONMembers) throws(PolicyError) {
        let name = try members.text("source")
        guard let source = RegistrationRequest.Source(rawValue: name) else {
            throw PolicyError(.unknownName, "is not known here", at: "source")
        }
        var lastStatus: EnrollmentStatus?
        if let code = try members.optionalNumber("lastStatus") {
            guard let status = Int(exactly: code).flatMap(EnrollmentStatus.init(rawValue:)) else {
                throw PolicyError(.unknownName, "is not known here", at: "lastStatus")
            }
            lastStatus = status
        }
        self.init(
            account: try members.read("account"), source: source, failures: try members.count("failures"),
            nextAttempt: try members.time("nextAttempt"), planned: try members.optionalTime("planned"),
            lastStatus: lastStatus)
    }
}

package import CordonPolicy

extension PolicyEnvelope: JSONReadable {
    /// Reads the members by the names of today, or by the former ones.
    package init(_ members: JSONMembers) throws(PolicyError) {
        func member<Value: Equatable>(
            _ key: CodingKeys, _ former: FormerKeys, _ read: (String) throws(PolicyError) -> Value
        ) throws(PolicyError) -> Value {
            guard members.holds(key.rawValue) else { return try read(former.rawValue) }
            let value = try read(key.rawValue)
            guard members[former.rawValue] != nil else { return value }
            guard try read(former.rawValue) == value else {
                throw PolicyError(.invalidValue, "two names of one thing have different values", at: key.rawValue)
            }
            return value
        }
        self.init(
            tenant: try member(.tenant, .tenant, members.tenant),
            registrationID: try member(.registrationID, .registrationID, members.text),
            account: try member(.account, .account, members.account),
            bundleID: try member(.bundleID, .bundleID, members.text),
            sequence: try member(.sequence, .sequence, members.number),
            version: try members.text(CodingKeys.version.rawValue), nonce: try members.text(CodingKeys.nonce.rawValue),
            issuedAt: try members.number(CodingKeys.issuedAt.rawValue),
            expiresAt: try members.number(CodingKeys.expiresAt.rawValue),
            policy: try members.readIfPresent(CodingKeys.policy.rawValue),
            configurations: try members.values(CodingKeys.configurations.rawValue),
            allowedAccounts: try members.decodeIfPresent(
                [AllowedAccount].self, CodingKeys.allowedAccounts.rawValue),
            workingTime: try members.decodeIfPresent(WorkingTime.self, CodingKeys.workingTime.rawValue),
            certificatePins: try members.decodeIfPresent(
                [String: [String]].self, CodingKeys.certificatePins.rawValue),
            telemetryDisabled: try members.optionalFlag(CodingKeys.telemetryDisabled.rawValue),
            commands: try members.decodeList(Command.self, CodingKeys.commands.rawValue),
            compliance: try members.decodeIfPresent(ComplianceReport.self, CodingKeys.compliance.rawValue),
            service: try members.decodeIfPresent(ServiceSettings.self, CodingKeys.service.rawValue),
            logRequests: try members.decodeIfPresent([LogRequest].self, CodingKeys.logRequests.rawValue),
            hasContact: try members.optionalFlag(CodingKeys.hasContact.rawValue))
    }
}

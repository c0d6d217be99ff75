internal import CordonIdentity
internal import CordonPolicy

/// The names of members are those of requests and receipts. Release 0.1 wrote and read others for five of them; both are
/// written until release 0.3, for apps of release 0.1, and both are read, since apps verify envelopes that they stored.
extension PolicyEnvelope {
    enum FormerKeys: String, CodingKey {
        case tenant = "tid"
        case registrationID = "rid"
        case account = "oid"
        case bundleID = "bundleId"
        case sequence = "seq"
    }

    /// Reads an envelope by the names of today, or by the former ones where it has none of today's.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let former = try decoder.container(keyedBy: FormerKeys.self)
        func member<Value: Decodable & Equatable>(_ key: CodingKeys, _ formerKey: FormerKeys) throws -> Value {
            guard members.contains(key) else { return try former.decode(Value.self, forKey: formerKey) }
            let value = try members.decode(Value.self, forKey: key)
            guard try former.decodeIfPresent(Value.self, forKey: formerKey) ?? value == value else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: members, debugDescription: "two names of one thing have different values")
            }
            return value
        }
        self.init(
            tenant: try member(.tenant, .tenant), registrationID: try member(.registrationID, .registrationID),
            account: try member(.account, .account), bundleID: try member(.bundleID, .bundleID),
            sequence: try member(.sequence, .sequence), version: try members.decode(String.self, forKey: .version),
            nonce: try members.decode(String.self, forKey: .nonce),
            issuedAt: try members.decode(Int64.self, forKey: .issuedAt),
            expiresAt: try members.decode(Int64.self, forKey: .expiresAt),
            policy: try members.decodeIfPresent(EffectivePolicy.self, forKey: .policy),
            configurations: try members.decode([JSONValue].self, forKey: .configurations),
            allowedAccounts: try members.decodeIfPresent([AllowedAccount].self, forKey: .allowedAccounts),
            workingTime: try members.decodeIfPresent(WorkingTime.self, forKey: .workingTime),
            certificatePins: try members.decodeIfPresent([String: [String]].self, forKey: .certificatePins),
            telemetryDisabled: try members.decodeIfPresent(Bool.self, forKey: .telemetryDisabled),
            commands: try members.decode([Command].self, forKey: .commands),
            compliance: try members.decodeIfPresent(ComplianceReport.self, forKey: .compliance),
            service: try members.decodeIfPresent(ServiceSettings.self, forKey: .service),
            logRequests: try members.decodeIfPresent([LogRequest].self, forKey: .logRequests),
            hasContact: try members.decodeIfPresent(Bool.self, forKey: .hasContact))
    }

    /// Writes both names of what has two.
    public func encode(to encoder: any Encoder) throws {
        var former = encoder.container(keyedBy: FormerKeys.self)
        try former.encode(tenant, forKey: .tenant)
        try former.encode(registrationID, forKey: .registrationID)
        try former.encode(account, forKey: .account)
        try former.encode(bundleID, forKey: .bundleID)
        try former.encode(sequence, forKey: .sequence)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(tenant, forKey: .tenant)
        try members.encode(registrationID, forKey: .registrationID)
        try members.encode(account, forKey: .account)
        try members.encode(bundleID, forKey: .bundleID)
        try members.encode(sequence, forKey: .sequence)
        try members.encode(version, forKey: .version)
        try members.encode(nonce, forKey: .nonce)
        try members.encode(issuedAt, forKey: .issuedAt)
        try members.encode(expiresAt, forKey: .expiresAt)
        try members.encodeIfPresent(policy, forKey: .policy)
        try members.encode(configurations, forKey: .configurations)
        try members.encodeIfPresent(allowedAccounts, forKey: .allowedAccounts)
        try members.encodeIfPresent(workingTime, forKey: .workingTime)
        try members.encodeIfPresent(certificatePins, forKey: .certificatePins)
        try members.encodeIfPresent(telemetryDisabled, forKey: .telemetryDisabled)
        try members.encode(commands, forKey: .commands)
        try members.encodeIfPresent(compliance, forKey: .compliance)
        try members.encodeIfPresent(service, forKey: .service)
        try members.encodeIfPresent(logRequests, forKey: .logRequests)
        try members.encodeIfPresent(hasContact, forKey: .hasContact)
    }
}

internal import CordonIdentity
internal import CordonPolicy

/// Members have the names that requests and receipts use. Earlier builds wrote and read other names for five of them. Both are written
/// until release 0.3, for apps of those builds, and both are read, because apps verify envelopes that they stored.
extension PolicyEnvelope {
    enum FormerKeys: String, CodingKey {
        case tenant = "tid"
        case registrationID = "rid"
        case account = "oid"
        case bundleID = "bundleId"
        case sequence = "seq"
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

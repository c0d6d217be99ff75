public import CordonIdentity
public import CordonPolicy
public import CordonProtocol
public import Foundation

/// Everything that the management service does; transports know this protocol only, and features wrap it.
///
/// Callers are verified before they get here. Their roles are checked here, and their tenant bounds what they
/// see: an id of another tenant is ``ServiceError/Code/notFound``. What a call acknowledged by returning is durable. All calls may come
/// from any task at once, and every call throws ``ServiceError``.
public protocol ManagementService: PolicyAdministration, DirectoryAdministration, DeviceAdministration,
    TenantAdministration, ResourceAdministration, OperationsAdministration, CommandAdministration,
    ReportAdministration, SharedDeviceAdministration, DeviceService, DeviceReporting, AccountSignals
{}

/// Policies and app configurations.
public protocol PolicyAdministration: Sendable {
    /// The policies of the kinds, ordered by id.
    func policies(of kinds: Set<PolicyKind>, as administrator: Administrator) async throws(ServiceError)
        -> [ManagedAppPolicy]

    /// One policy.
    func policy(_ id: String, as administrator: Administrator) async throws(ServiceError) -> ManagedAppPolicy

    /// Makes a policy from a Graph document; members that the service owns are ignored, `apps` and `assignments`
    /// are honoured, unknown members kept (SRV-RS-011, 012, 014).
    ///
    /// - Throws: ``ServiceError`` with code `invalid` naming every unacceptable member.
    func createPolicy(_ kind: PolicyKind, document: JSONValue, as administrator: Administrator)
        async throws(ServiceError) -> ManagedAppPolicy

    /// Merges changes into a policy: absent members stay, null members are unset, collections are replaced (SRV-RS-013).
    ///
    /// - Parameter version: The version that the caller expects, nil for any; another one throws `preconditionFailed`.
    func updatePolicy(_ id: String, changes: JSONValue, ifVersion version: String?, as administrator: Administrator)
        async throws(ServiceError) -> ManagedAppPolicy

    /// Removes a policy; whom it reached is told to check in.
    func deletePolicy(_ id: String, ifVersion version: String?, as administrator: Administrator)
        async throws(ServiceError)

    /// Replaces whom a policy reaches (SRV-OP-033).
    ///
    /// - Throws: ``ServiceError`` with code `invalid` where one group is both included and excluded (SRV-TG-04).
    func assignPolicy(_ id: String, to assignments: [PolicyAssignment], as administrator: Administrator)
        async throws(ServiceError) -> ManagedAppPolicy

    /// Replaces the apps that a policy is about (SRV-OP-032).
    ///
    /// - Parameter group: The new set of apps, nil to leave it as it is.
    func targetApps(
        _ apps: [MobileAppIdentifier], group: AppGroup?, ofPolicy id: String, as administrator: Administrator
    ) async throws(ServiceError) -> ManagedAppPolicy

    /// What would reach a person in an app now: policies and configurations, ordered by id (SRV-RS-130, SRV-OP-064).
    func intendedPolicies(forUser userID: String, bundleID: String, as administrator: Administrator)
        async throws(ServiceError) -> [ManagedAppPolicy]

    /// What the next envelope of a registration would carry, filters considered, ordered by id.
    func intendedPolicies(ofRegistration id: String, as administrator: Administrator) async throws(ServiceError)
        -> [ManagedAppPolicy]
}

/// People and groups.
public protocol DirectoryAdministration: Sendable {
    /// Every person, ordered by id.
    func users(as administrator: Administrator) async throws(ServiceError) -> [DirectoryUser]

    /// One person, by object id or sign-in name.
    func user(_ idOrName: String, as administrator: Administrator) async throws(ServiceError) -> DirectoryUser

    /// Adds a person or replaces the one with this id.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` when another person has the sign-in name.
    func saveUser(_ user: DirectoryUser, as administrator: Administrator) async throws(ServiceError)

    /// Adds a person, or replaces the one that the caller has seen, so that two who change one person at once do not undo
    /// each other.
    ///
    /// - Parameter known: The person as last read, nil where there must be none with this id.
    /// - Throws: ``ServiceError`` with code `preconditionFailed` when the person is another by now, else as ``saveUser(_:as:)``.
    func replaceUser(_ known: DirectoryUser?, with user: DirectoryUser, as administrator: Administrator)
        async throws(ServiceError)

    /// Removes a person from the directory and from every group.
    func removeUser(_ id: String, as administrator: Administrator) async throws(ServiceError)

    /// Every group, ordered by id.
    func groups(as administrator: Administrator) async throws(ServiceError) -> [DirectoryGroup]

    /// One group.
    func group(_ id: String, as administrator: Administrator) async throws(ServiceError) -> DirectoryGroup

    /// Adds a group or replaces the one with this id, members included; members need not exist yet.
    func saveGroup(_ group: DirectoryGroup, as administrator: Administrator) async throws(ServiceError)

    /// Adds a group, or replaces the one that the caller has seen.
    ///
    /// - Parameter known: The group as last read, nil where there must be none with this id.
    /// - Throws: ``ServiceError`` with code `preconditionFailed` when the group is another by now.
    func replaceGroup(_ known: DirectoryGroup?, with group: DirectoryGroup, as administrator: Administrator)
        async throws(ServiceError)

    /// Removes a group; policies assigned to it keep the assignment, which then reaches nobody.
    func removeGroup(_ id: String, as administrator: Administrator) async throws(ServiceError)

    /// The groups that a person belongs to, directly or through other groups, ordered by id.
    func groups(ofUser id: String, as administrator: Administrator) async throws(ServiceError) -> [DirectoryGroup]
}

/// Registrations and wipes.
public protocol DeviceAdministration: Sendable {
    /// The registrations that the filter lets through, ordered by id.
    func registrations(_ filter: RegistrationFilter, as administrator: Administrator) async throws(ServiceError)
        -> [Registration]

    /// One registration, open or closed.
    func registration(_ id: String, as administrator: Administrator) async throws(ServiceError) -> Registration

    /// Forgets a registration; its app learns so at its next check-in (status 220). Its open wipes end, also those of one
    /// that is closed already.
    func forgetRegistration(_ id: String, as administrator: Administrator) async throws(ServiceError)

    /// Asks for a wipe of every app of a person on one device: one operation for each (SRV-TG-23).
    ///
    /// An app whose wipe is already under way keeps that operation, so that asking twice is asking once. Somebody who left
    /// the directory is found by object id as long as there are registrations.
    ///
    /// - Throws: ``ServiceError``: `notFound` for the person, `invalid` for an unknown tag, naming the known ones.
    func requestWipe(ofUser userID: String, deviceTag: String, as administrator: Administrator)
        async throws(ServiceError) -> [WipeOperation]

    /// Blocks a person: every app is told to wipe at every check-in until unblocked (SRV-TG-24), also after the person
    /// left the directory.
    func blockUser(_ userID: String, as administrator: Administrator) async throws(ServiceError)

    /// Ends a block; wipes under way go on.
    func unblockUser(_ userID: String, as administrator: Administrator) async throws(ServiceError)

    /// The object ids of blocked people, ordered.
    func blockedUsers(as administrator: Administrator) async throws(ServiceError) -> [String]

    /// Every wipe, newest first; of one registration where an id is given.
    func operations(ofRegistration id: String?, as administrator: Administrator) async throws(ServiceError)
        -> [WipeOperation]

    /// One wipe.
    func operation(_ id: String, as administrator: Administrator) async throws(ServiceError) -> WipeOperation

    /// Takes back a pending wipe.
    ///
    /// - Throws: ``ServiceError`` with code `conflict` once it was delivered (SRV-TG-27).
    func cancelOperation(_ id: String, as administrator: Administrator) async throws(ServiceError) -> WipeOperation
}

/// Settings, keys and the audit log of an organisation.
public protocol TenantAdministration: Sendable {
    /// The roles that the organisation made and that the caller holds by some name: a group, a role of the token, or
    /// `user:` and an object id. For transports, before they have an ``Administrator``.
    func customRoles(heldBy names: Set<String>, of tenant: TenantID) async throws(ServiceError) -> [CustomRole]

    /// The accounts that may be used in an app, nil for no restriction (SRV-CI-008).
    func allowedAccounts(as administrator: Administrator) async throws(ServiceError)
        -> [PolicyEnvelope.AllowedAccount]?

    /// Replaces the accounts that may be used; nil lifts the restriction.
    func setAllowedAccounts(_ accounts: [PolicyEnvelope.AllowedAccount]?, as administrator: Administrator)
        async throws(ServiceError)

    /// The signing keys, oldest first, without secrets.
    func signingKeys(as administrator: Administrator) async throws(ServiceError) -> [ServiceSigningKey]

    /// Publishes a new envelope key that signs from `activeFrom` on; the one before stays valid while
    /// envelopes signed with it may be in use (SRV-CI-084).
    ///
    /// A key that signs at once is for an emergency: every other key leaves the key set in the same moment, and every
    /// app is told to fetch a new envelope.
    func rotateSigningKey(activeFrom: Date, as administrator: Administrator) async throws(ServiceError)
        -> ServiceSigningKey

    /// A page of the audit log, oldest first.
    func auditRecords(_ query: AuditQuery, as administrator: Administrator) async throws(ServiceError)
        -> [AuditRecord]

    /// The whole audit log as JSON Lines, ending in a signed checkpoint, in pieces of whole lines.
    ///
    /// The stream's errors are ``ServiceError``.
    func exportAudit(as administrator: Administrator) async throws(ServiceError)
        -> AsyncThrowingStream<Data, any Error>

    /// Whether the organisation is being moved to another service.
    func isMoving(as administrator: Administrator) async throws(ServiceError) -> Bool

    /// Says whether the organisation is being moved: enrolments and check-ins then end with 222, and apps keep the rules
    /// they have and ask again later (SRV-CI-055). Wipes are still told, and reports still taken. To apps it is time without
    /// contact: past the periods of their launch conditions they block, and may remove the organisation's data.
    func setMoving(_ isMoving: Bool, as administrator: Administrator) async throws(ServiceError)
}

/// What enrolled apps use.
public protocol DeviceService: Sendable {
    /// Binds an app, an account and a key; the same key again finds its registration (SRV-CI-018).
    ///
    /// - Throws: ``ServiceError`` with code `enrollment`: 200 not entitled, 225 not targeted, 208 the key is
    ///   bound to another account or app, 203 a fresh sign-in is needed after a wipe (SRV-TG-30).
    func register(_ request: RegistrationRequest, by caller: DeviceCaller) async throws(ServiceError)
        -> RegistrationOutcome

    /// Answers a check-in (SRV-CI-019).
    ///
    /// - Throws: ``ServiceError``: `wrongKey`; `enrollment` with 220 registration gone, 214 another account, 200 not entitled
    ///   and no wipe waits.
    func checkIn(_ request: CheckInRequest, registration id: String, by caller: DeviceCaller)
        async throws(ServiceError) -> CheckInOutcome

    /// Takes what an app reports of a command; the same report again changes nothing (SRV-CI-020).
    ///
    /// - Returns: What the command was.
    /// - Throws: ``ServiceError``: `notFound` for an unknown command, `invalid` for a missing or false receipt.
    @discardableResult
    func acknowledge(_ acknowledgement: Acknowledgement, registration id: String, by caller: DeviceCaller)
        async throws(ServiceError) -> Command.Kind

    /// Tells of changes as they happen; after the given event id those that were missed come first.
    ///
    /// Events only say that a check-in is worthwhile, so several missed ones of a kind may come as one. The stream ends
    /// when the registration closes or the reader stops.
    func events(ofRegistration id: String, after eventID: Int64?, by caller: DeviceCaller)
        async throws(ServiceError) -> AsyncStream<ServiceEvent>

    /// The keys that sign envelopes, vouched for by the root key (SRV-CI-025).
    func keySet(of tenant: TenantID) async throws(ServiceError) -> SignedKeySet

    /// What the discovery document needs (SRV-CI-017).
    func discoveryFacts(of tenant: TenantID) async throws(ServiceError) -> DiscoveryFacts
}

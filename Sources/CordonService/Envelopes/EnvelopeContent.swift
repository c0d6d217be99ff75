internal import CordonBase
internal import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import Crypto
internal import Foundation

/// What the next envelope of a registration says, apart from what every envelope has anew.
struct EnvelopeContent: Sendable {
    /// The merged policy, nil when none is targeted.
    let policy: EffectivePolicy?
    /// The app configurations, one dictionary each.
    let configurations: [JSONValue]
    /// The accounts that may be used.
    let allowedAccounts: [PolicyEnvelope.AllowedAccount]?
    /// The policies and configurations in it.
    let references: [PolicyReference]
    /// What is said besides.
    let extras: EnvelopeExtras
    /// Changes with anything above (SRV-CI-004).
    let version: String
    /// The part of it that policies, groups and people decide.
    let rules: IntendedRules

    /// Gathers what reaches a person in an app.
    ///
    /// - Parameter groups: The folded ids of the groups that the person is directly in.
    init(
        for user: DirectoryUser, in groups: [String], bundleID: String, facts: FilterFacts, tenant: TenantID,
        snapshot: TargetingSnapshot, settings: TenantSettings, extras: EnvelopeExtras = .none
    ) throws(ServiceError) {
        let intended = snapshot.intended(for: user, in: groups, bundleID: bundleID, facts: facts)
        let tokens = ConfigurationTokens(user: user, tenant: tenant)
        try self.init(
            protections: intended.protections, references: intended.all.map(\.reference),
            configurations: intended.configurations.map { tokens.dictionary(of: $0, isDefault: false) }
                + tokens.defaultDictionary(of: intended.defaults),
            snapshot: snapshot, settings: settings, extras: extras)
    }

    /// What goes with a wipe to the app of a person whom app protection no longer serves: the protections that were in
    /// force last, as they are now, so that nothing lies open until the wipe is done, and nothing else.
    init(
        leaving registration: Registration, snapshot: TargetingSnapshot, settings: TenantSettings
    ) throws(ServiceError) {
        let protections = snapshot.protections(among: registration.lastEnvelope?.policies ?? [])
        try self.init(
            protections: protections, references: protections.map(\.reference), configurations: [],
            snapshot: snapshot, settings: settings, extras: .none, isLeaving: true)
    }

    private init(
        protections: [ManagedAppPolicy], references: [PolicyReference], configurations: [JSONValue],
        snapshot: TargetingSnapshot, settings: TenantSettings, extras: EnvelopeExtras, isLeaving: Bool = false
    ) throws(ServiceError) {
        let merged = try snapshot.effectivePolicy(of: protections)
        policy = merged?.policy
        self.configurations = configurations
        allowedAccounts = settings.allowedAccounts
        self.extras = extras
        self.references = references
        // Configurations may have secret values, which nobody who reads the version guesses by it.
        var content = VersionedContent(
            salt: configurations.isEmpty ? nil : snapshot.secretSalt, policyDigest: merged?.digest,
            policies: references, configurations: configurations)
        func makeBare() -> String { Self.version(of: content) }
        // Configurations may name the person; without any, all whom the same protections reach have the same.
        let bare = configurations.isEmpty ? snapshot.version(of: references, make: makeBare) : makeBare()
        let saysMore = allowedAccounts != nil || extras != .none
        (content.allowedAccounts, content.extras) = (allowedAccounts, extras == .none ? nil : extras)
        version = saysMore ? Self.version(of: content) : bare
        rules = isLeaving ? .none : IntendedRules(digest: bare, references: references)
    }

    /// What a version stands for.
    private struct VersionedContent: Encodable {
        var salt: String?
        var policyDigest: String?
        var policies: [PolicyReference]
        var configurations: [JSONValue]
        var allowedAccounts: [PolicyEnvelope.AllowedAccount]?
        var extras: EnvelopeExtras?
    }

    private static func version(of content: VersionedContent) -> String {
        let bytes = (try? MessageCoding.encode(content)) ?? Data()
        return "W" + Base64URL.encode(SHA256.hash(data: bytes).withUnsafeBytes { Data($0.prefix(16)) })
    }
}

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

    /// Gathers what reaches a person in an app.
    init(
        for user: DirectoryUser, bundleID: String, facts: FilterFacts, tenant: TenantID, snapshot: TargetingSnapshot,
        settings: TenantSettings, extras: EnvelopeExtras = .none
    ) throws(ServiceError) {
        let intended = snapshot.intended(for: user, bundleID: bundleID, facts: facts)
        let tokens = ConfigurationTokens(user: user, tenant: tenant)
        let merged = try snapshot.effectivePolicy(of: intended.protections)
        policy = merged?.policy
        configurations =
            intended.configurations.map { $0.dictionary(with: tokens, isDefault: false) }
            + ManagedAppPolicy.defaultDictionary(of: intended.defaults, with: tokens)
        allowedAccounts = settings.allowedAccounts
        self.extras = extras
        references = intended.all.map(\.reference)
        version = Self.version(
            of: VersionedContent(
                policyDigest: merged?.digest, policies: references, configurations: configurations,
                allowedAccounts: allowedAccounts, extras: extras == .none ? nil : extras))
    }

    /// What a version stands for.
    private struct VersionedContent: Encodable {
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

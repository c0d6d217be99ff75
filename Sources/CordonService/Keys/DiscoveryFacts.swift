public import CordonIdentity

/// What the service knows for its discovery document; addresses are the transport's part (SRV-CI-017).
public struct DiscoveryFacts: Sendable, Equatable {
    /// The organisation.
    public var tenant: TenantID
    /// The thumbprint of the root key, to be pinned in apps (SRV-CI-084).
    public var rootKeyThumbprint: String
    /// The protocol versions that the service speaks.
    public var versions: [Int]

    /// Makes the facts.
    public init(tenant: TenantID, rootKeyThumbprint: String, versions: [Int]) {
        self.tenant = tenant
        self.rootKeyThumbprint = rootKeyThumbprint
        self.versions = versions
    }
}

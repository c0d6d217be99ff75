/// An app that the organisation knows, and the named sets it belongs to (SRV-RS-156, SRV-TG-03).
public struct CatalogueApp: Sendable, Codable, Equatable {
    /// The bundle id; compared without case.
    public let bundleID: String
    /// The name to show.
    public var displayName: String
    /// Who makes it.
    public var publisher: String?
    /// Whether it is the organisation's own rather than one from a store.
    public var isLineOfBusiness: Bool
    /// The named sets it belongs to: of ``AppGroup``, `allCoreMicrosoftApps` and `allMicrosoftApps`.
    public var groups: Set<AppGroup>

    /// Makes an entry.
    public init(
        bundleID: String, displayName: String, publisher: String? = nil, isLineOfBusiness: Bool = false,
        groups: Set<AppGroup> = []
    ) {
        self.bundleID = bundleID
        self.displayName = displayName
        self.publisher = publisher
        self.isLineOfBusiness = isLineOfBusiness
        self.groups = groups
    }
}

extension CatalogueApp: AdministeredResource {
    /// Entries of the app catalogue.
    public static var storageKind: StorageKind { .catalogueApp }
    /// The folded bundle id.
    public var storageID: String { folded(bundleID) }
    /// The bundle id.
    public var id: String { bundleID }
    /// The word for it in the audit log.
    public static var auditName: String { "app" }
    /// Who may write policies may say what apps there are.
    public static var writing: Permission { .writePolicies }
    /// What the entry says.
    public var entityVersion: String? { ContentVersion.of(content) }

    /// What people read of the entry.
    public var shownTexts: [StoredText] {
        [
            StoredText("bundleId", bundleID), StoredText("displayName", displayName),
            StoredText("publisher", publisher),
        ]
    }

    /// Refuses names that no honest entry has.
    public func check() throws(ServiceError) {
        try checkName(displayName)
        guard !bundleID.isEmpty, bundleID.utf8.count <= 256, bundleID.unicodeScalars.allSatisfy({ $0.value > 0x20 })
        else { throw unacceptable("bundleId", "needs 1 to 256 bytes without spaces") }
    }

    /// Policies for a named set reach other apps when its members change.
    public func concerns(_ policy: ManagedAppPolicy) -> Bool { AppGroup.named.contains(policy.appGroup) }

    /// Those of its named sets do when it comes into one or leaves one.
    public func movesPolicies(from before: CatalogueApp?) -> Bool { groups != before?.groups ?? [] }

    /// Those of the sets that it is in do.
    public var movesPoliciesWhenRemoved: Bool { !groups.isEmpty }
}

extension AppGroup {
    /// The sets whose members the catalogue says.
    static let named: Set<AppGroup> = [.allCoreMicrosoftApps, .allMicrosoftApps]
}

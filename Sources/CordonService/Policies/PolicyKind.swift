/// What kind of policy a document is, by its Graph type name.
public enum PolicyKind: String, Sendable, Codable, CaseIterable {
    /// Protection of iOS apps.
    case iosManagedAppProtection
    /// Protection of Android apps: stored, assigned and echoed, never evaluated (SRV-RS-101).
    case androidManagedAppProtection
    /// Protection of the people whom no targeted policy reaches (SRV-RS-102, SRV-TG-08).
    case defaultManagedAppProtection
    /// Key-values for apps (SRV-RS-110).
    case targetedManagedAppConfiguration

    /// The `@odata.type` member of the kind (SRV-RS-002).
    public var odataType: String { "#microsoft.graph.\(rawValue)" }

    /// What ids of the kind begin with (SRV-RS-003).
    public var idPrefix: String {
        switch self {
        case .iosManagedAppProtection, .androidManagedAppProtection: "T_"
        case .defaultManagedAppProtection: "D_"
        case .targetedManagedAppConfiguration: "A_"
        }
    }

    /// Whether policies of the kind are assigned to groups; a default protection reaches all people by itself.
    public var isAssignable: Bool { self != .defaultManagedAppProtection }

    /// The kind that an `@odata.type` value names, with or without `#` (SRV-RS-002).
    public init?(odataType: String) {
        let name = odataType.hasPrefix("#") ? odataType.dropFirst() : odataType[...]
        guard name.hasPrefix("microsoft.graph.") else { return nil }
        self.init(rawValue: String(name.dropFirst("microsoft.graph.".count)))
    }
}

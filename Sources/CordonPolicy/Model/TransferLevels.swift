/// Which apps organisation data may come from or go to (SRV-RS-157).
public enum DataTransferLevel: String, StrictnessOrdered, Codable {
    /// No app.
    case none
    /// Apps managed by policy, with the same managed account.
    case managedApps
    /// Every app.
    case allApps
}

/// How far cut, copy and paste reach (SRV-RS-158).
public enum ClipboardLevel: String, StrictnessOrdered, Codable {
    /// Not beyond this app, either way.
    case blocked
    /// Between managed apps only, either way.
    case managedApps
    /// Out to managed apps only; in from every app.
    case managedAppsWithPasteIn
    /// Everywhere.
    case allApps
}

/// What a notification may show (SRV-RS-166, SDK-NO-01).
public enum NotificationLevel: String, StrictnessOrdered, Codable {
    /// Nothing.
    case block
    /// Fixed texts without organisation data.
    case blockOrganizationalData
    /// Everything.
    case allow
}

/// Which app may dial a number (SRV-RS-167).
public enum DialerLevel: String, StrictnessOrdered, Codable {
    /// None.
    case blocked
    /// One named by its URL scheme.
    case customApp
    /// Managed ones.
    case managedApps
    /// Every one.
    case allApps
}

/// Which app may send a text message (SRV-RS-168).
public enum MessagingLevel: String, StrictnessOrdered, Codable {
    /// None.
    case blocked
    /// One named by its URL scheme.
    case specificApps
    /// Managed ones.
    case anyManagedApp
    /// Every one.
    case anyApp
}

/// Which browser links go to (SRV-RS-163).
public enum ManagedBrowser: String, StrictnessOrdered, Codable {
    /// The organisation's managed browser.
    case microsoftEdge
    /// None named.
    case notConfigured
}

/// Whether a system feature is off for organisation data (SRV-RS-172).
public enum FeatureState: String, StrictnessOrdered, Codable {
    /// Off.
    case blocked
    /// On.
    case notBlocked
}

/// Whether an outside evaluator must agree before data is shared (SRV-RS-171).
public enum ContentEvaluationRequirement: String, StrictnessOrdered, Codable {
    /// Always.
    case required
    /// When the device is online.
    case requiredWhenOnline
    /// Never.
    case notRequired
}

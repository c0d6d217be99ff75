/// Which app a policy is about (SRV-RS-137).
public struct MobileAppIdentifier: Sendable, Codable, Hashable {
    /// The platform that the identifier is of.
    public enum Platform: String, Sendable, Codable, CaseIterable {
        /// `iosMobileAppIdentifier`, with a bundle id.
        case ios
        /// `androidMobileAppIdentifier`, with a package id.
        case android
        /// `macAppIdentifier`, with a bundle id; stored and echoed.
        case mac
        /// `windowsAppIdentifier`, with an app id; stored and echoed.
        case windows
    }

    /// The platform.
    public var platform: Platform
    /// The bundle or package id as it was given; compared without case (SRV-RS-138).
    public var value: String

    /// Makes an identifier.
    public init(_ platform: Platform, _ value: String) {
        self.platform = platform
        self.value = value
    }

    /// The id of the `managedMobileApp` entity (SRV-RS-136).
    public var entityID: String { "\(value).\(platform.rawValue)" }

    /// Whether both name one app, whatever the case.
    public static func == (left: Self, right: Self) -> Bool {
        left.platform == right.platform && left.value.lowercased() == right.value.lowercased()
    }

    /// Hashes the case-folded spelling.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(platform)
        hasher.combine(value.lowercased())
    }
}

/// Which set of apps a policy is about (SRV-RS-073, SRV-TG-03).
public enum AppGroup: String, Sendable, Codable, CaseIterable {
    /// The apps that the policy lists.
    case selectedPublicApps
    /// The named set of core apps.
    case allCoreMicrosoftApps
    /// The named set of publisher apps.
    case allMicrosoftApps
    /// Every app.
    case allApps
}

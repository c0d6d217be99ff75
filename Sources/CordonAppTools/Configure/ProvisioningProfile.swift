public import Foundation

/// What a provisioning profile allows (TL-CF-29).
public struct ProvisioningProfile: Sendable {
    private let allowed: PropertyListValue
    /// The certificates whose signatures the profile covers, DER.
    let certificates: [Data]
    /// From when on devices refuse the profile.
    let expiry: Date?
    /// The teams it was made for.
    let teams: [String]
    /// What the app's identifier begins with, without the dot: the team, or for old apps a prefix of their own.
    let prefix: String?

    /// Reads the content of an `embedded.mobileprovision`.
    /// - Throws: ``AppToolsError`` `malformed` when it is not a signed property list with entitlements.
    public init(_ data: Data) throws(AppToolsError) {
        let content = try CMSEnvelope.content(of: data)
        let value = try PropertyList(reading: content).value
        guard let entitlements = value["Entitlements"] else {
            throw AppToolsError(.malformed, "the provisioning profile has no entitlements")
        }
        allowed = entitlements
        certificates = value["DeveloperCertificates"]?.array?.compactMap(\.data) ?? []
        if case .date(let date)? = value["ExpirationDate"] { expiry = date } else { expiry = nil }
        teams = value["TeamIdentifier"]?.strings ?? []
        prefix = value["ApplicationIdentifierPrefix"]?.strings?.first ?? teams.first
    }

    /// Groups of an entitlements file that the profile does not cover. A file from before the build may name the
    /// team's prefix by its build variable.
    ///
    /// - Parameters:
    ///   - entitlements: The app's entitlements.
    ///   - path: The entitlements' file, for the findings.
    public func findings(_ entitlements: PropertyListValue, path: String) -> [Finding] {
        ["keychain-access-groups", "com.apple.security.application-groups"].flatMap { key in
            let granted = allowed[key]?.strings ?? []
            let groups = entitlements[key]?.strings ?? []
            let areFew = Self.areFew(granted.count, groups.count)
            return groups.filter { wanted in
                !areFew || !granted.contains { Self.covers($0, Self.withPrefix(of: $0, wanted)) }
            }
            .map { Finding(path, .error, "CF-PROFILE", "the provisioning profile does not cover \($0) of \(key)") }
        }
    }

    /// The entitlements that the profile does not allow (TL-SG-09), taken literally as devices do.
    func denied(_ entitlements: PropertyListValue) -> [String] {
        (entitlements.dictionary?.keys ?? []).sorted().filter { key in
            guard let wanted = entitlements[key], let granted = allowed[key] else { return true }
            return !Self.allows(granted, wanted)
        }
    }

    private static let mostComparisons = 1_000_000

    /// Each is compared with each, and both lists may come with the app: no profile has so many.
    private static func areFew(_ granted: Int, _ wanted: Int) -> Bool { granted <= mostComparisons / max(1, wanted) }

    private static func allows(_ granted: PropertyListValue, _ wanted: PropertyListValue) -> Bool {
        switch (granted, wanted) {
        case (.string(let grant), .string(let text)): covers(grant, text)
        // One star allows any list.
        case (.string(let grant), .array(let values)):
            values.allSatisfy { $0.string.map { covers(grant, $0) } ?? false }
        // No profile has lists in a list.
        case (.array(let grants), .array(let values)):
            areFew(grants.count, values.count)
                && values.allSatisfy { value in
                    value.array == nil && grants.contains { $0.array == nil && allows($0, value) }
                }
        case (.array(let grants), _): grants.contains { allows($0, wanted) }
        default: granted == wanted || (granted.boolean == true && wanted.boolean == false)
        }
    }

    /// `TEAM.*` covers every group of the team.
    private static func covers(_ grant: String, _ wanted: String) -> Bool {
        grant.hasSuffix("*") ? wanted.hasPrefix(grant.dropLast()) : grant == wanted
    }

    /// A group with the prefix of a granted one in the place of the build variable.
    private static func withPrefix(of grant: String, _ wanted: String) -> String {
        wanted.replacingOccurrences(of: "$(AppIdentifierPrefix)", with: grant.prefix { $0 != "." } + ".")
    }
}

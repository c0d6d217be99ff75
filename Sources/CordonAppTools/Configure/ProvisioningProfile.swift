public import Foundation

/// What a provisioning profile allows (TL-CF-29).
public struct ProvisioningProfile: Sendable {
    private let allowed: PropertyListValue

    /// Reads the content of an `embedded.mobileprovision`.
    /// - Throws: ``AppToolsError`` `malformed` when it is not a signed property list with entitlements.
    public init(_ data: Data) throws(AppToolsError) {
        let content = try CMSEnvelope.content(of: data)
        guard let entitlements = try PropertyList(reading: content).value["Entitlements"] else {
            throw AppToolsError(.malformed, "the provisioning profile has no entitlements")
        }
        allowed = entitlements
    }

    /// Groups of the entitlements that the profile does not cover.
    ///
    /// - Parameters:
    ///   - entitlements: The app's entitlements.
    ///   - path: The entitlements' file, for the findings.
    public func findings(_ entitlements: PropertyListValue, path: String) -> [Finding] {
        ["keychain-access-groups", "com.apple.security.application-groups"].flatMap { key in
            let granted = allowed[key]?.strings ?? []
            return (entitlements[key]?.strings ?? []).filter { wanted in !granted.contains { Self.covers($0, wanted) } }
                .map { Finding(path, .error, "CF-PROFILE", "the provisioning profile does not cover \($0) of \(key)") }
        }
    }

    /// `TEAM.*` covers every group of the team, and the build variable stands for the team's prefix.
    private static func covers(_ grant: String, _ wanted: String) -> Bool {
        let team = grant.prefix { $0 != "." } + "."
        let group = wanted.replacingOccurrences(of: "$(AppIdentifierPrefix)", with: team)
        return grant.hasSuffix("*") ? group.hasPrefix(grant.dropLast()) : grant == group
    }
}

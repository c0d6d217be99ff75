internal import CordonPolicy
internal import CordonProtocol

/// How many apps on devices have a version of something.
public struct InstalledVersion: Sendable, Codable, Equatable {
    /// What has the version.
    public enum Part: String, Sendable, Codable, CaseIterable {
        /// The app.
        case app
        /// The protection library in the app.
        case library
        /// The device's system.
        case system
    }

    /// The folded bundle id of the app.
    public let bundleID: String
    /// What has the version.
    public let part: Part
    /// The version.
    public let version: String
    /// How many apps on devices have it.
    public let apps: Int

    /// The versions of each app, the newest first.
    static func all(of counts: [StatusCount]) -> [InstalledVersion] {
        var apps: [String: [Part: [String: Int]]] = [:]
        for count in counts {
            guard case .installed(let one) = count.place else { continue }
            for (part, version) in [(Part.app, one.version), (.library, one.library), (.system, one.system)] {
                apps[one.app, default: [:]][part, default: [:]][version, default: 0] += count.people
            }
        }
        return apps.keys.sorted().flatMap { app in
            Part.allCases.flatMap { part in
                (apps[app]?[part] ?? [:]).sorted { isNewer($0.key, than: $1.key) }
                    .map { InstalledVersion(bundleID: app, part: part, version: $0.key, apps: $0.value) }
            }
        }
    }

    /// Orders versions field by field; texts that are not versions come last.
    private static func isNewer(_ left: String, than right: String) -> Bool {
        switch (VersionNumber(left), VersionNumber(right)) {
        case (let first?, let second?): first == second ? left < right : first > second
        case (nil, nil): left < right
        case (let first, nil): first != nil
        case (nil, _): false
        }
    }
}

/// How many apps on devices the rule of an assignment filter fits.
public struct FilterMatches: Sendable, Codable, Equatable {
    /// Those that it fits.
    public let matching: Int
    /// All of them.
    public let total: Int

    init(of rule: String, in counts: [StatusCount]) throws(ServiceError) {
        let rule = try FilterRule(rule)
        var (matching, total) = (0, 0)
        for count in counts {
            guard case .installed(let one) = count.place else { continue }
            total += count.people
            if rule.holds(for: FilterFacts(one)) { matching += count.people }
        }
        (self.matching, self.total) = (matching, total)
    }
}

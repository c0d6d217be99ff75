import CordonPolicy
import CordonServiceHTTP

/// The versions of systems, apps and the library that apps on devices have last reported, of the apps that a policy is about.
struct ReportedVersions {
    private let all: [JSONValue]

    /// - Parameter entity: The policy with its apps, as the service has it.
    init(of entity: JSONValue, _ visit: ConsoleVisit) async throws {
        // A set of apps counts beside those that are listed.
        let named = Set(
            PolicyPages.hasSet(entity) ? [] : entity.list("apps").map { PolicyApps.bundle($0).lowercased() })
        let reported = try await visit.api.get("/admin/v1/reports/versions").array ?? []
        all = named.isEmpty ? reported : reported.filter { named.contains($0.text("bundleID").lowercased()) }
    }

    /// Whether a setting limits versions.
    static func areLimited(by setting: String) -> Bool { part(of: setting) != nil }

    /// What a setting limits; nil for one that limits no version.
    private static func part(of setting: String) -> String? {
        let name = setting.lowercased()
        if name.hasSuffix("osversion") { return "system" }
        if name.hasSuffix("appversion") { return "app" }
        return name.hasSuffix("sdkversion") ? "library" : nil
    }

    /// What was reported of what a setting limits.
    func versions(limitedBy setting: String) -> [JSONValue] {
        let part = Self.part(of: setting)
        return all.filter { $0.text("part") == part }
    }

    /// What there is at present of what a setting limits, each with the number of apps, from the lowest on; empty where nothing is known.
    func summary(limitedBy setting: String) -> Phrase {
        var counts: [Version: Int] = [:]
        for one in versions(limitedBy: setting) {
            let app = one.text("part") == "app" ? one.text("bundleID") : ""
            counts[Version(app: app, text: one.text("version")), default: 0] += one.number("apps")
        }
        guard !counts.isEmpty else { return "" }
        var shown = counts.sorted { $0.key < $1.key }.prefix(Self.mostShown).map { version, apps in
            Phrase.data("\(version.app.isEmpty ? "" : version.app + " ")\(version.text) (\(apps))")
        }
        if counts.count > shown.count { shown.append("and \(counts.count - shown.count) more") }
        return "On devices at present, with the number of apps: \(.list(shown))."
    }

    /// A version, of one app where versions of apps are meant.
    private struct Version: Hashable, Comparable {
        let app: String
        let text: String

        static func < (left: Version, right: Version) -> Bool {
            guard left.app == right.app else { return left.app < right.app }
            guard let one = VersionNumber(left.text), let other = VersionNumber(right.text), one != other else {
                return left.text < right.text
            }
            return one < other
        }
    }

    private static let mostShown = 8
}

import CordonPolicy
import CordonServiceHTTP

/// The apps on devices that a policy would keep closed, by what they last said of their versions: what people are locked out by.
struct ClosedApps {
    /// A lowest or highest version, and what has one.
    private struct Limit: Sendable {
        let setting: String
        /// Whether it is a highest version.
        var isHighest = false

        func admits(_ version: VersionNumber, at limit: VersionNumber) -> Bool {
            isHighest ? version <= limit : version >= limit
        }
    }

    private static let limits: [Limit] = [
        Limit(setting: "minimumRequiredOsVersion"),
        Limit(setting: "maximumRequiredOsVersion", isHighest: true),
        Limit(setting: "minimumRequiredAppVersion"),
        Limit(setting: "minimumRequiredSdkVersion"),
    ]

    let blocks: [Block]

    /// - Parameters:
    ///   - policy: What it would say; nil for what is none, which keeps nothing closed.
    ///   - entity: The policy with its apps, as the service has it.
    init(by policy: AppProtectionPolicy?, of entity: JSONValue, _ visit: ConsoleVisit) async throws {
        let limits = Self.limits.compactMap { limit in
            policy?.value(ofSetting: limit.setting).string.flatMap(VersionNumber.init).map { (limit, $0) }
        }
        guard !limits.isEmpty, !PolicyPages.lacksApps(entity) else {
            blocks = []
            return
        }
        let reported = try await ReportedVersions(of: entity, visit)
        let closed = limits.flatMap { limit, version -> [Phrase] in
            reported.versions(limitedBy: limit.setting).filter { one in
                !(VersionNumber(one.text("version")).map { limit.admits($0, at: version) } ?? false)
            }.map { one in
                """
                \(SettingTexts.text(of: limit.setting).label) \(.data(version.description)). On so many devices with \
                \(.data(one.text("bundleID"))) it is \(.data(one.text("version"))): \(.data("\(one.number("apps"))")).
                """
            }
        }
        guard !closed.isEmpty else {
            blocks = []
            return
        }
        let rest = closed.count - Self.mostShown
        var blocks: [Block] = [
            .note(
                .bad, "These apps would refuse to open where the policy reaches them:",
                closed.prefix(Self.mostShown) + (rest > 0 ? ["and \(rest) more"] : []))
        ]
        if visit.may("writePolicies"), let id = entity["id"]?.string, !id.isEmpty {
            let title = SettingTexts.title(of: .launch)
            blocks.append(.links([Link("Change: \(title)", PolicyPages.path(id) + "/edit/launch")]))
        }
        self.blocks = blocks
    }

    private static let mostShown = 10
}

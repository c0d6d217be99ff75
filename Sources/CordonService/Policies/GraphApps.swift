public import CordonPolicy

/// Apps in the JSON of Graph (SRV-RS-136…138).
public enum GraphApps {
    private static let types: [(platform: MobileAppIdentifier.Platform, type: String, member: String)] = [
        (.ios, "iosMobileAppIdentifier", "bundleId"), (.android, "androidMobileAppIdentifier", "packageId"),
        (.mac, "macAppIdentifier", "bundleId"), (.windows, "windowsAppIdentifier", "windowsAppId"),
    ]

    /// The apps of an `apps` member, nil when it is absent or null.
    ///
    /// - Throws: ``ServiceError`` with code `invalid`, naming the entry.
    public static func apps(in member: JSONValue?) throws(ServiceError) -> [MobileAppIdentifier]? {
        guard let member, member != .null else { return nil }
        guard let entries = member.array else { throw fault("apps", "needs to be a list") }
        var apps: [MobileAppIdentifier] = []
        for (index, entry) in entries.enumerated() {
            guard let app = identifier(entry["mobileAppIdentifier"]) else {
                throw fault("apps[\(index)].mobileAppIdentifier", "is of no known type or lacks its id")
            }
            if !apps.contains(app) { apps.append(app) }
        }
        return apps
    }

    /// The app of a `mobileAppIdentifier` object, nil when it is none.
    public static func identifier(_ value: JSONValue?) -> MobileAppIdentifier? {
        guard let value, let type = value["@odata.type"]?.string,
            let known = types.first(where: { type.hasSuffix("microsoft.graph.\($0.type)") }),
            let id = value[known.member]?.string, !id.isEmpty, id.utf8.count <= 256
        else { return nil }
        return MobileAppIdentifier(known.platform, id)
    }

    /// The `managedMobileApp` object of an app.
    public static func json(_ app: MobileAppIdentifier, version: String) -> JSONValue {
        var identifier: [String: JSONValue] = [:]
        if let known = types.first(where: { $0.platform == app.platform }) {
            identifier = ["@odata.type": .string("#microsoft.graph.\(known.type)"), known.member: .string(app.value)]
        }
        return .object([
            "@odata.type": "#microsoft.graph.managedMobileApp", "id": .string(app.entityID),
            "version": .string(version), "mobileAppIdentifier": .object(identifier),
        ])
    }

    /// The set of an `appGroupType` member, nil when it is absent or null; the case of letters does not matter.
    ///
    /// - Throws: ``ServiceError`` with code `invalid`.
    public static func group(in member: JSONValue?) throws(ServiceError) -> AppGroup? {
        guard let member, member != .null else { return nil }
        let name = member.string?.lowercased()
        guard let group = AppGroup.allCases.first(where: { $0.rawValue.lowercased() == name }) else {
            throw fault("appGroupType", "is not one of the known sets")
        }
        return group
    }

    private static func fault(_ member: String, _ reason: String) -> ServiceError {
        ServiceError(.invalid, "\(member) \(reason)", problems: [.init(member: member, reason: reason)])
    }
}

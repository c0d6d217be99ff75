import CordonPolicy
import CordonService

/// `mobileAppIdentifier` and its variants (SRV-RS-137).
enum AppIdentifierJSON {
    static func json(_ app: MobileAppIdentifier) -> JSONValue {
        ["@odata.type": .string("#microsoft.graph.\(type(app.platform))"), member(app.platform): .string(app.value)]
    }

    /// The identifier in a `managedMobileApp`, its type with or without `#` (SRV-RS-002).
    ///
    /// - Parameter place: What an error names.
    static func read(_ app: JSONValue, at place: String) throws(GraphRefusal) -> MobileAppIdentifier {
        guard let identifier = app["mobileAppIdentifier"], identifier.object != nil else {
            throw PolicyInput.refusal("\(place).mobileAppIdentifier", "an app identifier is missing")
        }
        let name = identifier["@odata.type"]?.string?.split(separator: ".").last.map(String.init)
        guard
            let platform = MobileAppIdentifier.Platform.allCases.first(where: {
                name == nil ? identifier[member($0)] != nil : type($0).lowercased() == name?.lowercased()
            })
        else {
            throw PolicyInput.refusal(
                "\(place).mobileAppIdentifier.@odata.type", "the type is not one of an app identifier")
        }
        guard let value = identifier[member(platform)]?.string, !value.isEmpty, value.utf8.count <= 255 else {
            throw PolicyInput.refusal("\(place).mobileAppIdentifier.\(member(platform))", "must be 1 to 255 characters")
        }
        return MobileAppIdentifier(platform, value)
    }

    private static func type(_ platform: MobileAppIdentifier.Platform) -> String {
        switch platform {
        case .ios: "iosMobileAppIdentifier"
        case .android: "androidMobileAppIdentifier"
        case .mac: "macAppIdentifier"
        case .windows: "windowsAppIdentifier"
        }
    }

    private static func member(_ platform: MobileAppIdentifier.Platform) -> String {
        switch platform {
        case .ios, .mac: "bundleId"
        case .android: "packageId"
        case .windows: "windowsAppId"
        }
    }
}

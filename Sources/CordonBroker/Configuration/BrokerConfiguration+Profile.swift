public import CordonProtocol
public import Foundation

extension BrokerConfiguration {
    /// Takes over what an MDM's profile says: the payload `com.apple.extensiblesso`, of type Redirect (SI-010 to SI-022).
    ///
    /// - Returns: What was found and not used, each with the reason, for the start-up log.
    /// - Throws: ``ProgramError`` with code `configurationInvalid` when the profile lacks the payload or a key is of the wrong kind.
    public mutating func apply(profile bytes: Data, place: String) throws(ProgramError) -> [String] {
        func refuse(_ reason: String) -> ProgramError {
            ProgramError(
                .configurationInvalid, reason: reason, place: place, hint: "Check it with `cordon profile lint`.")
        }
        guard bytes.count <= 1 << 20,
            bytes.starts(with: Data("bplist00".utf8)) || bytes.starts(with: Data("<?xml".utf8)),
            let profile = try? PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any]
        else { throw refuse("the profile is not a property list") }
        let payloads = profile["PayloadContent"] as? [[String: Any]] ?? []
        guard let payload = payloads.first(where: { $0["PayloadType"] as? String == "com.apple.extensiblesso" }) else {
            throw refuse("the profile holds no com.apple.extensiblesso payload")
        }
        guard payload["Type"] as? String == "Redirect" else { throw refuse("Type is not Redirect") }
        let data = payload["ExtensionData"] as? [String: Any] ?? [:]
        if let value = data["sharedDeviceMode"] {
            guard let number = value as? NSNumber, Self.isBoolean(number) else {
                throw refuse("sharedDeviceMode is not a Boolean")
            }
            profileSaysShared = number.boolValue
        }
        func list(_ key: String) throws(ProgramError) -> [String]? {
            guard let value = data[key] else { return nil }
            guard let text = value as? String else { throw refuse("\(key) is not text") }
            return text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        var lists = ProfileApps()
        lists.allowed = Set(try list("AppAllowList") ?? [])
        lists.allowedPrefixes = try list("AppPrefixAllowList") ?? []
        lists.blocked = Set(try list("AppBlockList") ?? [])
        let namesApps = data["AppAllowList"] != nil || data["AppPrefixAllowList"] != nil
        lists.allowsAll = (data["Enable_SSO_On_All_ManagedApps"] as? NSNumber)?.intValue == 1 || !namesApps
        profileApps = lists
        return Self.remarks(on: data)
    }

    private static let used: Set<String> = [
        "sharedDeviceMode", "AppAllowList", "AppPrefixAllowList", "AppBlockList", "Enable_SSO_On_All_ManagedApps",
    ]
    /// Keys that mean something on Apple platforms only.
    private static let elsewhere: Set<String> = [
        "AppCookieSSOAllowList", "browser_sso_interaction_enabled", "disable_explicit_app_prompt",
        "disable_explicit_app_prompt_and_autologin", "disable_explicit_native_app_prompt",
        "disable_explicit_native_app_prompt_and_autologin", "disable_inapp_sso_signin", "device_registration",
        "admin_debug_mode_enabled",
    ]

    private static func remarks(on data: [String: Any]) -> [String] {
        data.keys.sorted().filter { !used.contains($0) }.map {
            elsewhere.contains($0) ? "\($0) has no effect on this system" : "\($0) is not known"
        }
    }

    private static func isBoolean(_ number: NSNumber) -> Bool {
        #if canImport(Darwin)
            CFGetTypeID(number) == CFBooleanGetTypeID()
        #else
            String(cString: number.objCType) == "c"
        #endif
    }
}

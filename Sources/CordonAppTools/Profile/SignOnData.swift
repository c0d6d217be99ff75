/// What a sign-on profile tells the extension itself: the keys that brokers of shared devices read (SI-015, SI-022).
enum SignOnData {
    /// The kinds that a key's value can be of.
    enum Kind: String {
        case boolean, integer, string

        func fits(_ value: PropertyListValue) -> Bool {
            switch self {
            case .boolean: value.boolean != nil
            case .integer: value.integer != nil
            case .string: value.string != nil
            }
        }
    }

    /// The keys, each with its kind.
    static let keys: [String: Kind] = [
        "sharedDeviceMode": .boolean, "Enable_SSO_On_All_ManagedApps": .integer, "AppAllowList": .string,
        "AppBlockList": .string, "AppPrefixAllowList": .string, "AppCookieSSOAllowList": .string,
        "browser_sso_interaction_enabled": .integer, "disable_explicit_app_prompt": .integer,
        "disable_explicit_app_prompt_and_autologin": .integer, "disable_explicit_native_app_prompt": .integer,
        "disable_explicit_native_app_prompt_and_autologin": .integer, "disable_inapp_sso_signin": .integer,
        "device_registration": .string, "admin_debug_mode_enabled": .integer,
    ]

    /// What an MDM puts the device's registration in place of (SI-153).
    static let registrationVariable = "{{DEVICEREGISTRATION}}"

    /// A value as a command line gives it, of the kind that its key has; text where the key is not known.
    static func value(_ text: String, of key: String) -> PropertyListValue? {
        switch keys[key] {
        case .boolean: ["true": true, "false": false][text].map { .boolean($0) }
        case .integer: Int64(text).map { .integer($0) }
        case .string, nil: .string(text)
        }
    }

    /// What is wrong with the data of a payload of the type.
    static func findings(_ data: PropertyListDictionary, type: String?, path: String) -> [Finding] {
        var found: [Finding] = []
        for (key, value) in data.entries {
            guard let kind = keys[key] else {
                found.append(Finding(path, .note, "MC-UNKNOWN", unknown(key)))
                continue
            }
            if !kind.fits(value) {
                let message = "\(key) in ExtensionData is a \(value.kind) and should be a \(kind.rawValue)"
                found.append(Finding(path, .error, "MC-VALUE", message))
            } else if key == "device_registration", value.string != registrationVariable {
                let message = "\(key) should be \(registrationVariable), which the MDM replaces"
                found.append(Finding(path, .warning, "MC-VALUE", message))
            }
        }
        if data["sharedDeviceMode"] != nil, type != "Redirect" {
            let message = "sharedDeviceMode needs Type Redirect, and Type is \(type ?? "missing")"
            found.append(Finding(path, .error, "MC-TYPE", message))
        }
        return found
    }

    private static func unknown(_ key: String) -> String {
        let meant = keys.keys.first { $0.lowercased() == key.lowercased() }
        return "\(key) is not known in ExtensionData" + (meant.map { "; \($0) is, keys compare with case" } ?? "")
    }
}

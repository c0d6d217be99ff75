extension ConfigurationRun {
    /// The settings dictionary, what goes into it, and the app groups (TL-CF-19, 20).
    mutating func configureSettings() throws(AppToolsError) {
        let key = PropertyListPath.key(names.settingsKey)
        switch settings {
        case nil: try info.set(.dictionary([:]), at: [key])
        case .dictionary: break
        default: throw AppToolsError(.malformed, "\(names.settingsKey) is not a dictionary", at: infoPath)
        }
        for (name, value) in options.settings { try info.set(value, at: [key, .key(name)]) }
        try configureAppGroups()
    }

    private mutating func configureAppGroups() throws(AppToolsError) {
        guard let entitlements else { return }
        let granted = entitlements.value["com.apple.security.application-groups"]?.strings ?? []
        let path: [PropertyListPath] = [.key(names.settingsKey), "AppGroupIdentifiers"]
        let listed = info.value.part(at: path)?.strings ?? []
        for group in listed where !granted.contains(group) {
            note(.warning, "CF-GROUP", "app group \(group) is not among the entitlements")
        }
        guard !Set(granted).isSubset(of: listed) else { return }
        try ensureArray(at: path)
        var previous: String?
        for group in granted {
            let present = info.value.part(at: path)?.strings ?? []
            if !present.contains(group) {
                let place = previous.flatMap { present.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
                try info.insert(.string(group), into: path, at: place)
            }
            previous = group
        }
    }

    /// The text shown when Face ID is first used (TL-CF-18).
    mutating func configureUsage() throws(AppToolsError) {
        guard !isExtension, (info.value["NSFaceIDUsageDescription"]?.string ?? "").isEmpty else { return }
        try info.set(
            .string("Face ID confirms that it is you before work data is shown."), at: ["NSFaceIDUsageDescription"])
    }

    /// Main storyboard and nib keys, and the scene manifest (TL-CF-23, 24).
    mutating func configureMainInterface() throws(AppToolsError) {
        for (top, inner) in [("UIMainStoryboardFile", "MainStoryboardFile"), ("NSMainNibFile", "MainNibFile")] {
            for suffix in ["", "~ipad"] {
                let outside: [PropertyListPath] = [.key(top + suffix)]
                let inside: [PropertyListPath] = [.key(names.settingsKey), .key(inner + suffix)]
                let (from, to) = options.mainInterface == .restore ? (inside, outside) : (outside, inside)
                guard options.mainInterface != .keep, let value = info.value.part(at: from),
                    info.value.part(at: to) == nil
                else { continue }
                try info.remove(at: from)
                try info.set(value, at: to)
            }
        }
        try configureScenes()
    }

    private mutating func configureScenes() throws(AppToolsError) {
        guard let manifest = info.value["UIApplicationSceneManifest"]?.dictionary,
            manifest["UISceneConfigurations"]?.dictionary?.entries.isEmpty ?? true
        else { return }
        guard options.fixesScenes else {
            return note(.warning, "CF-SCENE", "the scene manifest has no configuration; run with --fix-scenes")
        }
        let scene: PropertyListValue = .dictionary(["UISceneConfigurationName": .string("Default Configuration")])
        try info.set(
            .dictionary(["UIWindowSceneSessionRoleApplication": .array([scene])]),
            at: ["UIApplicationSceneManifest", "UISceneConfigurations"])
    }
}

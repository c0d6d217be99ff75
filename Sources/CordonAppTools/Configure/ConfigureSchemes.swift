extension ConfigurationRun {
    /// URL schemes and their twins (TL-CF-10 to 13).
    mutating func configureSchemes() throws(AppToolsError) {
        let key = "CFBundleURLTypes"
        try checkCount(of: allSchemes)
        if let scheme = options.ensuredScheme, !allSchemes.contains(where: { isOwnScheme($0) }) {
            try add(scheme: scheme)
        }
        for callback in callbackSchemes where !allSchemes.contains(where: { same($0, callback) }) {
            try add(scheme: callback)
        }
        for (typeIndex, type) in (info.value[key]?.array ?? []).enumerated() {
            let schemes = type["CFBundleURLSchemes"]?.strings ?? []
            var inserted = 0
            for (index, scheme) in schemes.enumerated() where wantsTwin(scheme) {
                let twin = scheme + names.schemeSuffix
                guard !allSchemes.contains(where: { same($0, twin) }) else { continue }
                try info.insert(
                    .string(twin), into: [.key(key), .index(typeIndex), "CFBundleURLSchemes"],
                    at: index + inserted + 1)
                inserted += 1
            }
        }
        for scheme in allSchemes { checkSpelling(scheme) }
        if options.isOpenIn, !isExtension, !allSchemes.contains(where: { isOwnScheme($0) }) {
            let identifier = info.value["CFBundleIdentifier"]?.string ?? "BUNDLE-ID"
            note(
                .error, "CF-NOSCHEME",
                "an app with an Open-In extension needs a URL scheme; run with --ensure-scheme launch-\(identifier)")
        }
    }

    private var allSchemes: [String] {
        (info.value["CFBundleURLTypes"]?.array ?? []).flatMap { $0["CFBundleURLSchemes"]?.strings ?? [] }
    }

    /// Schemes that sign-in answers come back to.
    var callbackSchemes: [String] {
        var found: [String] = []
        if let scheme = setting("RedirectScheme")?.string { found.append(scheme) }
        if let uri = setting("RedirectURI")?.string, let end = uri.firstRange(of: "://")?.lowerBound {
            found.append(String(uri[..<end]))
        }
        return found.filter { isScheme($0) ?? true }
    }

    private func isOwnScheme(_ scheme: String) -> Bool {
        !isCallback(scheme) && !scheme.hasSuffix(names.schemeSuffix) && isScheme(scheme) != false
    }

    func isCallback(_ scheme: String) -> Bool {
        scheme.lowercased().hasPrefix(names.callbackSchemePrefix) || callbackSchemes.contains { same($0, scheme) }
    }

    /// Only what is surely a scheme gets a twin: a variable may hold a whole address (TL-CF-11).
    private func wantsTwin(_ scheme: String) -> Bool { isOwnScheme(scheme) && isScheme(scheme) == true }

    /// Schemes compare without case.
    private func same(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }

    private mutating func add(scheme: String) throws(AppToolsError) {
        try ensureArray(at: ["CFBundleURLTypes"])
        try info.append(.dictionary(["CFBundleURLSchemes": .array([.string(scheme)])]), to: ["CFBundleURLTypes"])
    }

    private mutating func checkSpelling(_ scheme: String) {
        switch isScheme(scheme) {
        case false?: note(.error, "CF-SCHEME", "\"\(scheme)\" is not a URL scheme")
        case nil:
            note(.note, "CF-VARIABLE", "\"\(scheme)\" has a build variable and gets no twin; give it with --setting")
        case true?: break
        }
    }
}

extension ConfigurationRun {
    private static let key = "LSApplicationQueriesSchemes"

    /// Schemes the app may ask the system about (TL-CF-14 to 17).
    mutating func configureQueries() throws(AppToolsError) {
        guard !isExtension else { return }
        let listed = info.value[Self.key]?.strings ?? []
        try checkCount(of: listed)
        var wanted = listed.filter { wantsTwin($0, among: listed) }.map { $0 + names.schemeSuffix }
        wanted += names.requiredQueries
        if listed.contains("mailto") { wanted.append(names.mailQuery) }
        try ensureArray(at: [.key(Self.key)])
        var present = Set(listed.map { $0.lowercased() })
        for scheme in wanted where present.insert(scheme.lowercased()).inserted {
            try info.append(.string(scheme), to: [.key(Self.key)])
        }
        for scheme in listed where isScheme(scheme) == false {
            note(.error, "CF-SCHEME", "\"\(scheme)\" in \(Self.key) is not a URL scheme")
        }
        let missing = names.brokerQueries.filter { !present.contains($0) }
        if !missing.isEmpty {
            note(.note, "CF-BROKER", "\(Self.key) lacks \(missing.joined(separator: ", ")), by which a broker is found")
        }
        checkLimit(present.count)
    }

    private mutating func checkLimit(_ count: Int) {
        let sdk = options.sdkVersion ?? linkedSDK
        let limit = sdk.map { $0 >= 27 ? 25 : $0 >= 15 ? 50 : Int.max } ?? 50
        if count > limit {
            note(
                .error, "CF-QUERIES",
                "\(count) query schemes, the system answers for \(limit) only; try --queries minimal")
        } else if sdk == nil, count > 25 {
            note(.note, "CF-QUERIES", "\(count) query schemes are more than the 25 of the iOS 27 SDK")
        }
    }

    private var linkedSDK: Int? {
        guard let name = info.value["DTSDKName"]?.string else { return nil }
        return Int(name.drop { !$0.isNumber }.prefix { $0.isNumber })
    }

    private mutating func wantsTwin(_ scheme: String, among listed: [String]) -> Bool {
        let name = scheme.lowercased()
        let isOurs =
            names.requiredQueries.contains(name) || names.plainQueries.contains(name) || name == names.mailQuery
            || name.hasSuffix(names.schemeSuffix) || name.hasPrefix(names.callbackSchemePrefix)
        guard !isOurs, isScheme(scheme) == true else { return false }
        if options.hasMinimalQueries, names.managedAppQueries.contains(name) {
            note(
                .note, "CF-MINIMAL",
                "no twin for \(scheme), the app must ask the protection SDK whether \(scheme) may be opened")
            return false
        }
        return true
    }
}

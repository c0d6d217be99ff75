/// The two files while they are being configured, with everything noticed on the way.
struct ConfigurationRun {
    var info: PropertyListEditor
    var entitlements: PropertyListEditor?
    let infoPath: String
    let entitlementsPath: String
    let options: ConfiguratorOptions
    private(set) var findings: [Finding] = []

    init(
        info: PropertyListEditor, infoPath: String, entitlements: PropertyListEditor?, entitlementsPath: String,
        options: ConfiguratorOptions
    ) {
        self.info = info
        self.entitlements = entitlements
        self.infoPath = infoPath
        self.entitlementsPath = entitlementsPath
        self.options = options
    }

    var names: NamingProfile { options.names }
    var variables: BuildVariables { BuildVariables(defines: options.defines) }
    var settings: PropertyListValue? { info.value[names.settingsKey] }
    var isExtension: Bool { info.value["NSExtension"] != nil || info.value["EXAppExtensionAttributes"] != nil }

    mutating func note(_ severity: Finding.Severity, _ code: String, _ message: String) {
        findings.append(Finding(infoPath, severity, code, message))
    }

    mutating func noteEntitlements(_ severity: Finding.Severity, _ code: String, _ message: String) {
        findings.append(Finding(entitlementsPath, severity, code, message))
    }

    /// Makes sure that an array stands at a top-level key or inside the settings.
    mutating func ensureArray(at path: [PropertyListPath]) throws(AppToolsError) {
        switch info.value.part(at: path) {
        case nil: try info.set(.array([]), at: path)
        case .array: break
        default:
            let keys = path.map { if case .key(let key) = $0 { key } else { "" } }
            throw AppToolsError(.malformed, "\(keys.joined(separator: ".")) is not an array", at: infoPath)
        }
    }

    private static let mostSchemes = 500

    /// What configuring adds does not count, so that it can be done again.
    /// - Throws: `malformed` for more schemes than any app has: with every one that is added the whole text is read again.
    func checkCount(of schemes: [String]) throws(AppToolsError) {
        let own = schemes.count { scheme in
            let name = scheme.lowercased()
            return !name.hasSuffix(names.schemeSuffix) && !names.requiredQueries.contains(name)
                && scheme != options.ensuredScheme && !isCallback(scheme)
        }
        guard own > Self.mostSchemes || schemes.count > 3 * Self.mostSchemes else { return }
        throw AppToolsError(
            .malformed, "has \(schemes.count) URL schemes; at most \(Self.mostSchemes) and their twins are taken",
            at: infoPath)
    }

    /// Whether a text is a URL scheme; nil when it has a variable that cannot be expanded.
    func isScheme(_ text: String) -> Bool? {
        guard let expanded = variables.expand(text) else { return nil }
        guard let first = expanded.first, first.isASCII, first.isLetter else { return false }
        return expanded.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}

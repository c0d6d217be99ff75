public import Foundation

/// Brings an Info.plist and its entitlements into the state that protection needs (TL-CF). Running it again changes nothing.
public struct Configurator: Sendable {
    /// The changed files and what was noticed.
    public struct Result: Sendable {
        /// The Info.plist with its changes.
        public let info: PropertyListEditor
        /// The entitlements with their changes; nil when none were given.
        public let entitlements: PropertyListEditor?
        /// What was noticed, errors included; errors do not stop the other rules.
        public let findings: [Finding]
    }

    /// Apps have some thousand bytes, a hundred thousand with the advertisers that some list.
    private static let largestFile = 1 << 20

    let options: ConfiguratorOptions

    /// Makes a configurator.
    public init(_ options: ConfiguratorOptions) {
        self.options = options
    }

    /// Applies every rule; nothing is written to disk.
    ///
    /// - Parameters:
    ///   - info: The content of the final Info.plist, with its path for findings.
    ///   - entitlements: The content of the entitlements file, with its path for findings.
    /// - Throws: ``AppToolsError`` `malformed` when a file is no property list or larger than a MiB, or a known key has the
    ///   wrong kind of value.
    public func configure(
        info: (data: Data, path: String), entitlements: (data: Data, path: String)? = nil
    ) throws(AppToolsError) -> Result {
        for file in [info, entitlements].compactMap({ $0 }) where file.data.count > Self.largestFile {
            throw AppToolsError(.malformed, "is larger than \(Self.largestFile) bytes", at: file.path)
        }
        let infoEditor = try naming(info.path) { () throws(AppToolsError) in try PropertyListEditor(reading: info.data)
        }
        guard case .dictionary = infoEditor.value else {
            throw AppToolsError(.malformed, "is not a dictionary", at: info.path)
        }
        var entitlementsEditor: PropertyListEditor?
        if let entitlements {
            let editor = try naming(entitlements.path) { () throws(AppToolsError) in
                try PropertyListEditor(reading: entitlements.data)
            }
            guard case .dictionary = editor.value else {
                throw AppToolsError(.malformed, "is not a dictionary", at: entitlements.path)
            }
            entitlementsEditor = editor
        }
        var run = ConfigurationRun(
            info: infoEditor, infoPath: info.path, entitlements: entitlementsEditor,
            entitlementsPath: entitlements?.path ?? info.path, options: options)
        if infoEditor.value["CFBundleIdentifier"] == nil, infoEditor.value["CFBundleExecutable"] == nil {
            run.note(.note, "CF-FRAGMENT", "looks like a part of a merged plist; configure the final one")
        }
        try run.configureSettings()
        try run.configureSchemes()
        try run.configureQueries()
        try run.configureUsage()
        try run.configureMainInterface()
        try run.configureExtension()
        try run.configureKeychainGroups()
        run.lintSettings()
        return Result(info: run.info, entitlements: run.entitlements, findings: run.findings)
    }
}

public import Foundation

/// Looks a built app over: what protection needs and the app lacks, and which of it can be put right safely.
public struct AppDoctor: Sendable {
    /// What was found, and the safe corrections.
    public struct Diagnosis: Sendable {
        /// What is missing or wrong, with what to do.
        public let findings: [Finding]
        /// Corrections of property lists; the app must be signed again after them.
        public let changes: [FileChange]
    }

    /// The oldest system that the protection supports (SDK-TL-05).
    private static let oldestSystem = 16

    private let options: ConfiguratorOptions

    /// Makes a doctor who judges by the configurator's rules.
    public init(_ options: ConfiguratorOptions) {
        self.options = options
    }

    /// Examines an app with its extensions.
    /// - Throws: ``AppToolsError`` when the folder is no app or cannot be read.
    public func examine(_ url: URL) throws(AppToolsError) -> Diagnosis {
        let app = try AppBundle(url)
        var findings: [Finding] = []
        var changes: [FileChange] = []
        let patcher = try FrameworkPatcher(names: options.names).plan(.verify, url)
        for image in patcher.images where !["linked", "patched", "skipped"].contains(image.state) {
            findings.append(
                Finding(image.path, .error, "DR-LINK", "\(image.cpu): \(image.detail); link it or run cordon patch"))
        }
        findings += patcher.findings + files(app) + minimumSystem(app)
        findings += try slices(url)
        let containing = app.kind == .app ? app : AppBundle.container(of: url)
        for bundle in try AppBundle.insideOut(url, withCompanions: false) where bundle.kind != .framework {
            let (found, change) = try configuration(bundle, of: containing, in: app)
            findings += found
            changes += change
        }
        var unsigned: Set<String> = []
        for finding in try SignatureVerifier().findings(url)
        where finding.severity == .error && unsigned.insert(finding.path).inserted {
            findings.append(
                Finding(finding.path, .warning, "DR-SIGN", "\(finding.message); sign last, after every other step"))
        }
        return Diagnosis(findings: findings, changes: changes)
    }

    private func configuration(
        _ bundle: AppBundle, of containing: AppBundle?, in root: AppBundle
    ) throws(AppToolsError) -> ([Finding], [FileChange]) {
        var options = options
        if bundle.kind == .appExtension {
            options.containingApp = containing?.identifier
            options.rewritesActivationRule =
                bundle.info["NSExtension"]?["NSExtensionAttributes"]?["NSExtensionActivationRule"] != nil
        }
        let file = bundle.url.appendingPathComponent("Info.plist")
        let info = try InputFile.map(file)
        let entitlements = try entitlements(bundle)
        let result = try Configurator(options).configure(
            info: (info, file.path), entitlements: entitlements.map { ($0, bundle.executable?.path ?? file.path) })
        var findings = result.findings
        guard result.info.isChanged else { return (findings, []) }
        findings.append(
            Finding(file.path, .warning, "DR-CONFIGURE", "needs keys of protection: cordon configure, or --fix"))
        let isSafe = !result.findings.contains { $0.severity == .error }
        return (findings, isSafe ? [FileChange(file, result.info.data, inside: WriteBoundary(of: root.url))] : [])
    }

    /// The entitlements inside the executable's signature.
    private func entitlements(_ bundle: AppBundle) throws(AppToolsError) -> Data? {
        guard let executable = bundle.executable else { return nil }
        let data = try InputFile.map(executable)
        let image = try naming(executable.path) { () throws(AppToolsError) in try MachOFile(data).slices.first?.image }
        guard let image, let signature = try? ImageSignatureCheck.signature(image) else { return nil }
        return signature.content(SuperBlob.Slot.entitlements)
    }

    private func slices(_ url: URL) throws(AppToolsError) -> [Finding] {
        var found: [Finding] = []
        for file in CodeFiles.all(in: url) {
            let data = try InputFile.map(file)
            let platforms = try naming(file.path) { () throws(AppToolsError) in
                try MachOFile(data).slices.compactMap(\.platform)
            }
            if platforms.contains(where: \.isSimulator), platforms.contains(where: { !$0.isSimulator }) {
                found.append(
                    Finding(
                        file.path, .error, "DR-SIMULATOR",
                        "holds simulator code, stores refuse it: cordon thin --keep device"))
            }
        }
        return found
    }

    private func minimumSystem(_ app: AppBundle) -> [Finding] {
        let platform = app.info["CFBundleSupportedPlatforms"]?.strings?.first ?? "iPhoneOS"
        guard platform.hasPrefix("iPhone") else {
            return [Finding(app.url.path, .warning, "DR-SYSTEM", "is made for \(platform), protection is for iOS")]
        }
        guard let text = app.info["MinimumOSVersion"]?.string, let major = Int(text.prefix { $0.isNumber }),
            major < Self.oldestSystem
        else { return [] }
        return [
            Finding(
                app.url.path, .warning, "DR-SYSTEM", "runs on iOS \(text), protection needs iOS \(Self.oldestSystem)")
        ]
    }

    /// Resources of the framework, and names that only a case-blind disk would find (TL-GN-07).
    private func files(_ app: AppBundle) -> [Finding] {
        var found: [Finding] = []
        let names = (try? FileManager.default.contentsOfDirectory(atPath: app.url.path)) ?? []
        for name in names.sorted() where name.lowercased() == "info.plist" && name != "Info.plist" {
            found.append(Finding(app.url.path, .error, "DR-CASE", "\(name) must be spelled Info.plist"))
        }
        let framework = options.names.frameworkName
        let embedded = app.url.appendingPathComponent("Frameworks/\(framework).framework")
        if !InputFile.kind(of: embedded).exists, !names.contains("\(framework)Resources.bundle") {
            found.append(
                Finding(
                    app.url.path, .warning, "DR-RESOURCES",
                    "has neither \(framework).framework nor \(framework)Resources.bundle"))
        }
        return found
    }
}

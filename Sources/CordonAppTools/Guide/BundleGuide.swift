import Foundation

/// The steps from a built app to one that is protected and signed.
struct BundleGuide {
    let url: URL
    /// The path that the commands name.
    let path: String
    let names: NamingProfile
    let commands: CommandLines

    func steps() throws(AppToolsError) -> [AppGuide.Step] {
        let findings = try AppDoctor(ConfiguratorOptions(names: names)).examine(url).findings
        var steps = [configuration(findings)]
        steps += try extensions(findings)
        steps.append(thinning(findings))
        steps.append(framework(findings))
        steps.append(signing(findings))
        steps.append(
            step(
                "Check the result", .open, "after the last change",
                [commands.line("verify", path, named: false), commands.line("doctor", path)]))
        return steps
    }

    private func step(
        _ title: String, _ state: AppGuide.Step.State, _ reason: String, _ lines: [String]
    ) -> AppGuide.Step {
        AppGuide.Step(title: title, state: state, reason: reason, commands: state == .done ? [] : lines)
    }

    private func configuration(_ findings: [Finding]) -> AppGuide.Step {
        let own = findings.filter { $0.code.hasPrefix("CF-") || $0.code == "DR-CONFIGURE" }
        let isOpen = own.contains { $0.severity > .note }
        return step(
            "Configure the property list", isOpen ? .open : .done,
            own.first { $0.severity > .note }?.message ?? "has what protection needs",
            [commands.line("configure", path, options: "--entitlements APP.entitlements --write-entitlements")])
    }

    private func extensions(_ findings: [Finding]) throws(AppToolsError) -> [AppGuide.Step] {
        var steps: [AppGuide.Step] = []
        let app = try AppBundle(url)
        for bundle in try AppBundle.insideOut(url, withCompanions: false) where bundle.kind == .appExtension {
            guard let text = bundle.info["NSExtension"]?["NSExtensionAttributes"]?["NSExtensionActivationRule"] else {
                continue
            }
            // What lies in a packed archive has no path of its own.
            let rewriting =
                path != url.path
                ? commands.line("activation-rule", path, options: "--in-place")
                : commands.line(
                    "configure", bundle.url.path + "/Info.plist",
                    options: "--containing-app \(CommandLines.quoted(app.identifier ?? "APP-ID"))"
                        + " --activation-rule")
            let rewritten = text.string.flatMap { text -> Bool? in
                guard let rule = try? ActivationRule(text), let managed = try? rule.addingManagedTypes(names) else {
                    return nil
                }
                return managed.description == rule.description
            }
            steps.append(
                step(
                    "Let \(bundle.url.lastPathComponent) take managed items", rewritten == true ? .done : .open,
                    rewritten == true ? "its rule names managed types" : "its rule does not name managed types",
                    [rewriting]))
        }
        if app.kind == .app, app.info["CFBundleDocumentTypes"]?.array?.isEmpty == false {
            steps.append(
                step(
                    "Offer an Open-In extension", .optional, "the app opens documents",
                    [
                        commands.line("activation-rule", path, options: "--open-in"),
                        commands.line("icons", path, options: "--output OpenIn", named: false),
                    ]))
        }
        return steps
    }

    private func thinning(_ findings: [Finding]) -> AppGuide.Step {
        let simulator = findings.first { $0.code == "DR-SIMULATOR" }
        return step(
            "Drop simulator code", simulator == nil ? .done : .open, simulator?.message ?? "there is none",
            [commands.line("thin", path, options: "--keep device", named: false)])
    }

    private func framework(_ findings: [Finding]) -> AppGuide.Step {
        if let unlinked = findings.first(where: { $0.code == "DR-LINK" }) {
            return step(
                "Make the app load \(names.frameworkName)", .open, unlinked.message,
                [commands.line("patch", path, options: "--install")])
        }
        if let missing = findings.first(where: { $0.code == "FP-MISSING" }) {
            return step("Embed \(names.frameworkName).framework", .open, missing.message, [])
        }
        return step("Make the app load \(names.frameworkName)", .done, "every image loads it", [])
    }

    private func signing(_ findings: [Finding]) -> AppGuide.Step {
        let broken = findings.first { $0.code == "DR-SIGN" }
        return step(
            "Sign", broken == nil ? .done : .open, broken?.message ?? "every signature fits; sign again after a change",
            [commands.line("sign", path, options: "--p12 IDENTITY.p12 --password-file FILE", named: false)])
    }
}

extension PolicyLint {
    /// Values that are well formed as text and name nothing: a scheme with a comma in it, a link without a scheme, a
    /// model's name in a shop.
    static func misspelt(_ policy: AppProtectionPolicy) -> [LintFinding] {
        schemes(policy.transfer) + links(policy.transfer) + models(policy.launch)
    }

    private static func schemes(_ rules: DataTransferRules) -> [LintFinding] {
        var findings: [LintFinding] = []
        for scheme in rules.exemptSchemes.sorted() where !isScheme(scheme) {
            findings.append(
                LintFinding(
                    .warning, "not-a-scheme", "exemptedAppProtocols",
                    "\(quoted(scheme)) is not a URL scheme and exempts nothing: "
                        + "write the schemes without : and //, with ; between"))
        }
        let named: [(setting: String, scheme: String?)] = [
            ("customBrowserProtocol", rules.customBrowserScheme),
            ("customDialerAppProtocol", rules.customDialerScheme),
            ("messagingRedirectAppUrlScheme", rules.messagingScheme),
        ]
        for (setting, scheme) in named {
            guard let scheme, EffectivePolicy.appScheme(scheme) == nil else { continue }
            findings.append(
                LintFinding(
                    .warning, "not-a-scheme", setting,
                    "\(quoted(scheme)) is not the scheme of an app, so no link goes there"
                ))
        }
        return findings
    }

    private static func links(_ rules: DataTransferRules) -> [LintFinding] {
        let lists = [
            ("exemptedUniversalLinks", rules.exemptUniversalLinks),
            ("managedUniversalLinks", rules.managedUniversalLinks),
        ]
        return lists.flatMap { setting, links in
            links.sorted().compactMap { link in
                let isWeb = link.hasPrefix("https://") || link.hasPrefix("http://")
                guard !isWeb || Link(link) == nil else { return nil }
                return LintFinding(
                    .warning, "not-a-link", setting,
                    "\(quoted(link)) matches no link: a universal link begins with https:// or http://")
            }
        }
    }

    /// Identifiers are such as `iPhone15,2`: letters, digits, a comma, digits.
    private static func models(_ launch: ConditionalLaunch) -> [LintFinding] {
        guard let models = launch.allowedModels else { return [] }
        let setting = "allowedIosDeviceModels"
        guard !models.isEmpty else {
            return [LintFinding(.warning, "admits-nothing", setting, "names no model, so no device may open the app")]
        }
        return models.sorted().filter { !isModel($0) }.map {
            LintFinding(
                .warning, "not-a-model", setting,
                "\(quoted($0)) is not a model identifier such as iPhone15,2; several stand with ; between")
        }
    }

    private static func isModel(_ text: String) -> Bool {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = text.utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else {
            return false
        }
        func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
        let name = parts[0].utf8
        return name.last.map(isDigit) == true && !parts[1].isEmpty && parts[1].utf8.allSatisfy(isDigit)
            && name.allSatisfy { isDigit($0) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) }
    }

    private static func isScheme(_ text: String) -> Bool { URLRule.scheme(of: text + ":") == text }

    private static func quoted(_ text: String) -> String { JSONValue.string(String(text.prefix(64))).text() }
}

extension ConfigurationRun {
    /// What an extension needs (TL-CF-21, 22) and its activation rule (TL-AR).
    mutating func configureExtension() throws(AppToolsError) {
        guard isExtension else { return }
        try configureContainingApp()
        if options.isOpenIn {
            try info.set(.boolean(true), at: [.key(names.settingsKey), "OpenInActionExtension"])
            if let name = options.openInName, info.value["CFBundleDisplayName"] == nil {
                try info.set(.string("Open in \(name)"), at: ["CFBundleDisplayName"])
                note(.note, "CF-NAME", "translate CFBundleDisplayName in InfoPlist.strings of each language")
            }
            checkOpenIn()
        }
        if options.rewritesActivationRule { try configureActivationRule() }
    }

    private mutating func configureContainingApp() throws(AppToolsError) {
        let path: [PropertyListPath] = [.key(names.settingsKey), "ContainingAppBundleId"]
        if let app = options.containingApp { try info.set(.string(app), at: path) }
        guard let app = info.value.part(at: path)?.string else {
            return note(.error, "CF-CONTAINER", "an extension must name its app; run with --containing-app")
        }
        if let identifier = info.value["CFBundleIdentifier"]?.string.flatMap({ variables.expand($0) }),
            let expanded = variables.expand(app), !identifier.hasPrefix(expanded + ".")
        {
            note(.error, "CF-CONTAINER", "the identifier \(identifier) does not begin with \(expanded).")
        }
    }

    private mutating func checkOpenIn() {
        if (info.value.part(at: [.key(names.settingsKey), "AppGroupIdentifiers"])?.array ?? []).isEmpty {
            note(.error, "CF-OPENIN", "an Open-In extension must share an app group with its app")
        }
    }

    private mutating func configureActivationRule() throws(AppToolsError) {
        let path: [PropertyListPath] = ["NSExtension", "NSExtensionAttributes", "NSExtensionActivationRule"]
        switch info.value.part(at: path) {
        case .string(let text)?:
            let rule = try ActivationRule(text)
            if rule.acceptsEverything {
                note(.warning, "AR-TRUE", "TRUEPREDICATE is for development, the store refuses it")
            }
            for finding in try rule.managedTypeFindings(names, path: infoPath) {
                note(finding.severity, finding.code, finding.message)
            }
            try info.set(.string(rule.addingManagedTypes(names).description), at: path)
        case .dictionary(let constants)?:
            let conversion = try ActivationConstants(constants).conversion(names)
            for text in conversion.notes { note(.note, "AR-GUESS", text) }
            try info.set(.string(conversion.rule.description), at: path)
        case nil: note(.error, "AR-NONE", "there is no NSExtensionActivationRule")
        default: throw AppToolsError(.malformed, "NSExtensionActivationRule has the wrong type", at: infoPath)
        }
    }
}

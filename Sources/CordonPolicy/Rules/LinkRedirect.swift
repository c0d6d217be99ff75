/// Where a link goes that the rules let out to one app only (SDK-PO-02, SRV-RS-032, 040, 041).
extension EffectivePolicy {
    /// The address that takes a link's place because of a setting; nil where the setting sends links nowhere, or names no app.
    ///
    /// An app's scheme takes the place of the link's, and in a browser's case the scheme with an `s` that of `https`: with
    /// `mybrowser`, `https://example.com` becomes `mybrowsers://example.com`. The scheme of the organisation's managed browser is
    /// the app configuration's ``AppConfiguration/managedBrowserKey``, else Edge's own.
    /// - Parameters:
    ///   - link: The link that is restricted.
    ///   - setting: The setting of the reason for which the link is restricted; see ``PolicyReason/setting``.
    ///   - configuration: The account's app configuration, which may name the organisation's browser.
    public func address(
        for link: String, by setting: String, configuration: AppConfiguration = .empty
    ) -> String? {
        guard let scheme = URLRule.scheme(of: link) else { return nil }
        let named: String? =
            switch (setting, scheme) {
            case ("managedBrowserToOpenLinksRequired", "http"): browser(configuration)
            case ("managedBrowserToOpenLinksRequired", "https"): browser(configuration).map { $0 + "s" }
            case ("customDialerAppProtocol", "tel"), ("customDialerAppProtocol", "telprompt"):
                Self.appScheme(policy.transfer.customDialerScheme)
            case ("messagingRedirectAppUrlScheme", "sms"): Self.appScheme(policy.transfer.messagingScheme)
            default: nil
            }
        return named.map { $0 + link.dropFirst(scheme.count) }
    }

    private func browser(_ configuration: AppConfiguration) -> String? {
        let deployed = Self.appScheme(configuration.string(for: AppConfiguration.managedBrowserKey, .min))
        switch policy.transfer.managedBrowser {
        case .microsoftEdge: return deployed ?? "microsoft-edge-http"
        case .notConfigured: return Self.appScheme(policy.transfer.customBrowserScheme) ?? deployed
        }
    }

    /// A scheme as administrators type it, with or without what follows it; nil for none, and for one that names no app.
    static func appScheme(_ text: String?) -> String? {
        guard let text, let end = text.lastIndex(where: { $0 != "/" && $0 != ":" }),
            let scheme = URLRule.scheme(of: text[...end] + ":"), scheme.count == text[...end].count
        else { return nil }
        return ["http", "https"].contains(scheme) ? nil : scheme
    }
}

extension AppConfiguration {
    /// The key under which a deployment says by which URL scheme its managed browser takes links (SRV-RS-032).
    public static let managedBrowserKey = "CordonManagedBrowserScheme"
}

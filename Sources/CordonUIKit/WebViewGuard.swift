#if canImport(UIKit) && canImport(WebKit)
    public import Cordon
    internal import CordonScreens
    public import Foundation
    public import WebKit

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// Puts a web view's navigation under the rules: links that lead out of the app's own pages open outside with a permit, or are refused
    /// (SDK-WV-05, SDK-WV-06).
    ///
    /// Keep it as long as the web view: the view does not. Main actor.
    @MainActor public final class WebViewGuard: NSObject, WKNavigationDelegate {
        private let protection: AppProtection
        private let owner: Identity
        private let isExternal: (URL) -> Bool
        private let opener: any LinkOpener
        private let whenRefused: (PolicyDecision) -> Void

        /// Makes a delegate.
        ///
        /// - Parameters:
        ///   - owner: Whose pages the view shows.
        ///   - opener: What opens links outside.
        ///   - isExternal: Whether an address lies outside what the app shows for the owner.
        ///   - whenRefused: Called for a link that may not be opened, to tell the person.
        public init(
            _ protection: AppProtection, owner: Identity, opener: any LinkOpener = SystemLinkOpener(),
            isExternal: @escaping (URL) -> Bool, whenRefused: @escaping (PolicyDecision) -> Void = { _ in }
        ) {
            self.protection = protection
            self.owner = owner
            self.opener = opener
            self.isExternal = isExternal
            self.whenRefused = whenRefused
        }

        /// Decides a step of the page.
        public func webView(
            _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
            decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void
        ) {
            // A download is a plain file that leaves the page: the app fetches it itself and seals it.
            guard !navigationAction.shouldPerformDownload else { return decisionHandler(.cancel) }
            let step = WebNavigation.step(
                to: navigationAction.request.url, isMainFrame: navigationAction.targetFrame?.isMainFrame ?? true,
                isExternal: isExternal,
                decision: { protection.decision(for: .open($0.absoluteString, of: owner)) })
            switch step {
            case .inside: decisionHandler(.allow)
            case .refused(let decision):
                decisionHandler(.cancel)
                if let decision { whenRefused(decision) }
            case .outside(let link):
                decisionHandler(.cancel)
                Task { [protection, owner, opener, whenRefused] in
                    do { try await Self.open(link, owner, protection, opener) } catch {
                        if let denial = (error as? ProtectionError)?.denial { whenRefused(denial) }
                    }
                }
            }
        }

        private static func open(
            _ link: URL, _ owner: Identity, _ protection: AppProtection, _ opener: some LinkOpener
        ) async throws {
            try await protection.outlets.openLink(link, of: owner, with: opener)
        }
    }
#endif

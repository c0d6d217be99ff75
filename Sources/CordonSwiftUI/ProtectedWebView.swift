#if canImport(SwiftUI) && canImport(UIKit) && canImport(WebKit)
    public import Cordon
    internal import CordonScreens
    internal import CordonUIKit
    public import Foundation
    public import SwiftUI
    internal import UIKit
    public import WebKit

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// An account's page in a web view: links that lead out of the account's own pages open outside with a permit, or are refused (SDK-WV-05,
    /// SDK-WV-06).
    ///
    /// ```swift
    /// ProtectedWebView(intranet, of: owner, isExternal: { $0.host() != intranet.host() })
    /// ```
    /// It shows nothing until the protection has started.
    public struct ProtectedWebView: UIViewRepresentable {
        private let page: URL
        private let owner: Identity
        private let isExternal: ((URL) -> Bool)?
        private let whenRefused: (PolicyDecision) -> Void
        @Environment(\.protection) private var protection
        @Environment(\.webViews) private var webViews

        /// What a web view keeps between updates.
        @MainActor public final class Coordinator {
            fileprivate var page: URL?
            fileprivate var owner: Identity?
            // The view does not keep its delegate.
            fileprivate var guarding: WebViewGuard?
            fileprivate var kind: WebViewerPolicy?
            fileprivate var refusingUploads: (any WKUIDelegate)?
        }

        /// Makes a view.
        ///
        /// - Parameters:
        ///   - owner: Whose page it is.
        ///   - isExternal: Whether an address lies outside what the app shows for the owner; nil is what `webViews(_:isExternal:)` around the view
        ///     says, and without that every host but the page's own.
        ///   - whenRefused: Called for a link that may not be opened, to tell the person.
        public init(
            _ page: URL, of owner: Identity, isExternal: ((URL) -> Bool)? = nil,
            whenRefused: @escaping (PolicyDecision) -> Void = { _ in }
        ) {
            self.page = page
            self.owner = owner
            self.isExternal = isExternal
            self.whenRefused = whenRefused
        }

        /// What the view keeps.
        public func makeCoordinator() -> Coordinator { Coordinator() }

        /// An empty web view.
        public func makeUIView(context: Context) -> WKWebView { WKWebView() }

        /// Loads the page where it is another one, under the rules of its owner.
        public func updateUIView(_ view: WKWebView, context: Context) {
            let kept = context.coordinator
            guard let protection else { return }
            let upload = WebNavigation.upload(of: owner, to: webViews.kind)
            // A delegate that answers nothing is what turns uploads off; without one the system shows its own panel.
            kept.refusingUploads = nil
            if #available(iOS 18.4, *) {
                if !protection.rules.verdict(for: upload).permits { kept.refusingUploads = NoUploads() }
            }
            view.uiDelegate = kept.refusingUploads
            // Also for the page that is shown: closures and rules of this update hold from now on.
            let guarding = WebViewGuard(
                protection, owner: owner, isExternal: leavesPage, whenRefused: whenRefused)
            kept.guarding = guarding
            view.navigationDelegate = guarding
            guard kept.page != page || kept.owner != owner || kept.kind != webViews.kind else { return }
            (kept.page, kept.owner, kept.kind) = (page, owner, webViews.kind)
            view.load(URLRequest(url: page))
        }
    }

    extension ProtectedWebView {
        /// What says whether an address lies outside: the view's own, else that of the views around it, else the page's host.
        private var leavesPage: (URL) -> Bool {
            isExternal ?? webViews.isExternal ?? { [page] in WebNavigation.isOtherHost($0, than: page) }
        }
    }

    /// What `webViews(_:isExternal:)` says to the views below.
    private struct WebViewRule {
        var kind = WebViewerPolicy.unset
        var isExternal: ((URL) -> Bool)?
    }

    private struct WebViewRuleKey: EnvironmentKey {
        // Closures of the app's views, made and called on the main actor alone.
        nonisolated(unsafe) static let defaultValue = WebViewRule()
    }

    extension EnvironmentValues {
        fileprivate var webViews: WebViewRule {
            get { self[WebViewRuleKey.self] }
            set { self[WebViewRuleKey.self] = newValue }
        }
    }

    /// Gives a page no files.
    @available(iOS 18.4, *) private final class NoUploads: NSObject, WKUIDelegate {
        func webView(
            _ webView: WKWebView, runOpenPanelWith parameters: WKOpenPanelParameters,
            initiatedByFrame frame: WKFrameInfo, completionHandler: @escaping @MainActor @Sendable ([URL]?) -> Void
        ) { completionHandler(nil) }
    }

    extension View {
        /// Says what the ``ProtectedWebView``s below are to their owner's rules (SDK-WV-04, SDK-WV-07). Where the rules refuse uploads to that
        /// kind, pages get no files, on iOS 18.4 and later; before that the system has no way to refuse them. Whether text may be pasted into a
        /// page is a question that the app asks (`Question.viewer`).
        ///
        /// - Parameters:
        ///   - kind: How far their pages belong to the owner; `unset` is what the app's settings say.
        ///   - isExternal: Whether an address lies outside what the app shows for the owner, for views that were not told; nil leaves every
        ///     host but a page's own external.
        public func webViews(
            _ kind: WebViewerPolicy = .unset, isExternal: ((URL) -> Bool)? = nil
        ) -> some View {
            environment(\.webViews, WebViewRule(kind: kind, isExternal: isExternal))
        }

        /// Lets writing tools look at what is typed below only where the owner's rules let them (`useWritingTools`).
        ///
        /// - Parameter protection: The app's; without one they are off.
        public func writingTools(of owner: Identity, by protection: AppProtection?) -> some View {
            let mayUse = protection.map { $0.rules.verdict(for: .may(.useWritingTools, of: owner)).permits } ?? false
            return modifier(WritingToolsRule(mayUse: mayUse))
        }
    }

    private struct WritingToolsRule: ViewModifier {
        let mayUse: Bool

        func body(content: Content) -> some View {
            if #available(iOS 18.0, *) {
                content.writingToolsBehavior(mayUse ? .automatic : .disabled)
            } else {
                content
            }
        }
    }
#endif

#if canImport(SwiftUI) && canImport(UIKit) && canImport(WebKit)
    public import Cordon
    internal import CordonUIKit
    public import Foundation
    public import SwiftUI
    internal import UIKit
    public import WebKit

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// An account's page in a web view: what leads out of the account's own pages is opened outside with a permit, or refused (SDK-WV-05, SDK-WV-06).
    ///
    /// ```swift
    /// ProtectedWebView(intranet, of: owner, isExternal: { $0.host() != intranet.host() })
    /// ```
    /// It shows nothing until the protection has started.
    public struct ProtectedWebView: UIViewRepresentable {
        private let page: URL
        private let owner: Identity
        private let isExternal: (URL) -> Bool
        private let whenRefused: (PolicyDecision) -> Void
        @Environment(\.protection) private var protection

        /// What a web view keeps between updates.
        @MainActor public final class Coordinator {
            fileprivate var page: URL?
            fileprivate var owner: Identity?
            // The view does not keep its delegate.
            fileprivate var guarding: WebViewGuard?
        }

        /// Makes a view.
        ///
        /// - Parameters:
        ///   - owner: Whose page it is.
        ///   - isExternal: Whether an address lies outside what the app shows for the owner.
        ///   - whenRefused: Told of a link that may not be opened, to tell the person.
        public init(
            _ page: URL, of owner: Identity, isExternal: @escaping (URL) -> Bool,
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
            guard let protection, kept.page != page || kept.owner != owner else { return }
            (kept.page, kept.owner) = (page, owner)
            let guarding = WebViewGuard(
                protection, owner: owner, isExternal: isExternal, whenRefused: whenRefused)
            kept.guarding = guarding
            view.navigationDelegate = guarding
            view.load(URLRequest(url: page))
        }
    }

    extension View {
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

import CordonApple
import CordonSwiftUI
import Foundation
import FoundationNetworking
import SwiftUI
import Testing
import UIKit
import WebKit

extension AppleAdapters {
    /// What `webViews(_:isExternal:)` says to the web views below it (SDK-WV-04, SDK-WV-07).
    @Suite @MainActor struct WebViewsInSwiftUI {
        private let page = URL(string: "https://intranet.contoso.example/start")
        private let partner = URL(string: "https://partner.example/x")

        private func policy(_ host: StubHost, to address: URL) throws -> WKNavigationActionPolicy? {
            let view = try #require(host.view as? WKWebView)
            let answer = Box()
            view.navigationDelegate?.webView(
                view, decidePolicyFor: WKNavigationAction(stubRequest: URLRequest(url: address))
            ) { answer.policy = $0 }
            return answer.policy
        }

        @Test
        func
            `the closure around web views says what leads out, a view's own closure goes first, and without either every other host does (SDK-WV-07)`()
            async throws
        {
            let stage = try await Stage()
            let (page, partner) = (try #require(page), try #require(partner))
            let shown = StubHost()
            let plain = ProtectedWebView(page, of: .personal)
            shown.show(plain.environment(\.protection, stage.protection))
            #expect(try policy(shown, to: page) == .allow && policy(shown, to: partner) == .cancel)
            shown.show(plain.webViews(isExternal: { $0 != partner }).environment(\.protection, stage.protection))
            #expect(try policy(shown, to: partner) == .allow && policy(shown, to: page) == .cancel)
            let own = ProtectedWebView(page, of: .personal, isExternal: { _ in true })
            shown.show(own.webViews(isExternal: { _ in false }).environment(\.protection, stage.protection))
            #expect(try policy(shown, to: page) == .cancel)
            #expect(
                (shown.view as? WKWebView)?.stubLoaded == [page], "what leads out is no reason to load the page again")
        }

        @Test
        func
            `a view below the modifier gives its page files only where the rules let that kind of page have them (SDK-WV-04)`()
            async throws
        {
            let stage = try await Stage(rules: [
                "AppSharingToLevel": 1, "WebViewUploadBlocked": true, "PINEnabled": false,
            ])
            let owner = Identity.managed(Stage.account)
            let page = try #require(page)
            for kind in [WebViewerPolicy.unmanaged, .currentIdentity, .currentIdentityWithoutUploadAndPaste, .unset] {
                let shown = StubHost()
                shown.show(
                    ProtectedWebView(page, of: owner).webViews(kind).environment(\.protection, stage.protection))
                let upload = WebNavigation.upload(of: owner, to: kind)
                let mayUpload = stage.protection.rules.verdict(for: upload).permits
                let view = try #require(shown.view as? WKWebView)
                #expect((view.uiDelegate == nil) == mayUpload, "\(kind)")
                // What was not said follows the app's settings, by which web views are the identity's.
                #expect(mayUpload == (kind == .currentIdentity || kind == .unset), "\(kind)")
                guard let delegate = view.uiDelegate else { continue }
                let files = Box()
                delegate.webView(view, runOpenPanelWith: WKOpenPanelParameters(), initiatedByFrame: WKFrameInfo()) {
                    files.isGivenNone = $0 == nil
                }
                #expect(files.isGivenNone)
            }
        }

        @Test func `a web view without a protection loads nothing`() throws {
            let shown = StubHost()
            shown.show(ProtectedWebView(try #require(page), of: .personal).webViews(.currentIdentity))
            let view = try #require(shown.view as? WKWebView)
            #expect(view.stubLoaded.isEmpty && view.navigationDelegate == nil)
        }
    }
}

@MainActor private final class Box {
    var policy: WKNavigationActionPolicy?
    var isGivenNone = false
}

// refused: cannot convert
// What the navigation delegate is told is another type.

import Foundation
import WebKit

@MainActor final class Web: NSObject, WKNavigationDelegate {
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void
    ) { decisionHandler(WKNavigationResponsePolicy.cancel) }
}

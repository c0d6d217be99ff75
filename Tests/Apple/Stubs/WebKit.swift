// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation
@_exported public import FoundationNetworking
public import UIKit

public enum WKNavigationActionPolicy: Int, Sendable { case cancel = 0, allow = 1, download = 2 }
public enum WKNavigationResponsePolicy: Int, Sendable { case cancel = 0, allow = 1, download = 2 }
@MainActor open class WKFrameInfo: NSObject {
    open var isMainFrame: Bool { true }
}
@MainActor open class WKNavigationAction: NSObject {
    public let request: URLRequest
    public let targetFrame: WKFrameInfo?
    public init(stubRequest: URLRequest, stubTarget: WKFrameInfo? = WKFrameInfo()) {
        (request, targetFrame) = (stubRequest, stubTarget)
    }
    open var shouldPerformDownload: Bool { false }
}
@MainActor open class WKNavigationResponse: NSObject {
    open var canShowMIMEType: Bool { true }
}
@MainActor open class WKNavigation: NSObject {}
@MainActor open class WKWebView: UIView {
    open weak var navigationDelegate: (any WKNavigationDelegate)?
    open weak var uiDelegate: (any WKUIDelegate)?
    public private(set) var stubLoaded: [URL] = []
    @discardableResult open func load(_ request: URLRequest) -> WKNavigation? {
        if let address = request.url { stubLoaded.append(address) }
        return nil
    }
}
@MainActor public protocol WKNavigationDelegate: NSObjectProtocol {
    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void)
}
@available(iOS 18.4, *)
@MainActor open class WKOpenPanelParameters: NSObject {}
// The method is of 18.4 as its parameters are; said there alone, since the delegate of navigation has methods of the same name.
@MainActor public protocol WKUIDelegate: NSObjectProtocol {
    func webView(
        _ webView: WKWebView, runOpenPanelWith parameters: WKOpenPanelParameters, initiatedByFrame frame: WKFrameInfo,
        completionHandler: @escaping @MainActor @Sendable ([URL]?) -> Void)
}

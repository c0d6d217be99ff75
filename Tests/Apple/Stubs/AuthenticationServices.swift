// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation
public import UIKit

public typealias ASPresentationAnchor = UIWindow

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

public struct ASWebAuthenticationSessionError: Error, Sendable {
    public enum Code: Int, Sendable {
        case canceledLogin = 1
        case presentationContextNotProvided = 2
        case presentationContextInvalid = 3
    }
    public let code: Code
    public init(_ code: Code) { self.code = code }
}

@MainActor open class ASWebAuthenticationSession: NSObject {
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    @available(iOS 17.4, macOS 14.4, *)
    public final class Callback: Sendable {
        let stubText: String
        init(_ text: String) { stubText = text }
        public static func customScheme(_ customScheme: String) -> Callback { Callback(customScheme) }
        public static func https(host: String, path: String) -> Callback { Callback("https://\(host)\(path)") }
    }

    private let done: CompletionHandler
    open weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    open var prefersEphemeralWebBrowserSession = false

    @available(iOS 17.4, macOS 14.4, *)
    public init(url URL: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {
        done = completionHandler
    }
    public init(url URL: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {
        done = completionHandler
    }
    @discardableResult
    open func start() -> Bool {
        guard presentationContextProvider != nil else { return false }
        done(Self.stubAnswer, Self.stubAnswer == nil ? ASWebAuthenticationSessionError(.canceledLogin) : nil)
        return true
    }
    open func cancel() {}

    public static var stubAnswer: URL?
}

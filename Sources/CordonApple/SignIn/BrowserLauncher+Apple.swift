#if canImport(AuthenticationServices) && canImport(UIKit)
    internal import AuthenticationServices
    public import Cordon
    internal import Foundation
    public import UIKit

    extension BrowserLauncher {
        /// Shows the provider's page in the system's authentication session, over a window of the app.
        ///
        /// The redirect is of a scheme of the app's own, or, from iOS 17.4 on, an https address that the app claims.
        ///
        /// - Parameters:
        ///   - isEphemeral: Whether the page shares nothing with Safari: no single sign-on, and nothing left behind.
        ///   - window: The window that the page is shown over; nil shows none.
        public static func authenticationSession(
            isEphemeral: Bool = true, over window: @escaping @MainActor @Sendable () -> UIWindow?
        ) -> BrowserLauncher {
            BrowserLauncher { page, redirect in
                try await AuthenticationPage.over(window()).show(page, until: redirect, isEphemeral: isEphemeral)
            }
        }
    }

    /// One page, from its start to the answer.
    @MainActor private final class AuthenticationPage: NSObject, ASWebAuthenticationPresentationContextProviding {
        private let anchor: UIWindow
        private var session: ASWebAuthenticationSession?
        private var waiting: CheckedContinuation<URL?, any Error>?

        private init(_ anchor: UIWindow) { self.anchor = anchor }

        static func over(_ window: UIWindow?) throws -> AuthenticationPage {
            guard let window else {
                throw SignInError(.configuration, .authorizationFailed, "there is no window to sign in over")
            }
            return AuthenticationPage(window)
        }

        func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }

        func show(_ page: URL, until redirect: URL, isEphemeral: Bool) async throws -> URL? {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    waiting = continuation
                    guard !Task.isCancelled else { return finish(throwing: CancellationError()) }
                    begin(page, redirect, isEphemeral)
                }
            } onCancel: {
                Task { @MainActor in
                    self.session?.cancel()
                    self.finish(throwing: CancellationError())
                }
            }
        }

        private func begin(_ page: URL, _ redirect: URL, _ isEphemeral: Bool) {
            // Not of the main actor: the system does not say on which thread it answers, and a closure of the main actor traps on another.
            let done: @Sendable (URL?, (any Error)?) -> Void = { [weak self] answer, error in
                let isCancelled = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
                let hasFailed = error != nil
                Task { @MainActor in
                    if isCancelled { self?.finish(throwing: CancellationError()) }
                    if hasFailed {
                        self?.finish(
                            throwing: SignInError(.configuration, .authorizationFailed, "the system showed no page"))
                    }
                    self?.finish(answer)
                }
            }
            let session: ASWebAuthenticationSession
            if redirect.scheme == "https" {
                guard #available(iOS 17.4, macOS 14.4, *), let host = redirect.host() else {
                    return finish(
                        throwing: SignInError(
                            .configuration, .authorizationFailed,
                            "an https redirect needs iOS 17.4; give the app a scheme of its own"))
                }
                session = ASWebAuthenticationSession(
                    url: page, callback: .https(host: host, path: redirect.path()), completionHandler: done)
            } else {
                session = ASWebAuthenticationSession(
                    url: page, callbackURLScheme: redirect.scheme, completionHandler: done)
            }
            session.prefersEphemeralWebBrowserSession = isEphemeral
            session.presentationContextProvider = self
            self.session = session
            if !session.start() {
                finish(throwing: SignInError(.configuration, .authorizationFailed, "the system showed no page"))
            }
        }

        private func finish(_ answer: URL?) {
            waiting?.resume(returning: answer)
            waiting = nil
        }

        private func finish(throwing error: any Error) {
            waiting?.resume(throwing: error)
            waiting = nil
        }
    }
#endif

#if canImport(SwiftUI) && canImport(UIKit)
    public import Cordon
    public import CordonScreens
    public import CordonUIKit
    internal import Foundation
    public import SwiftUI
    internal import UIKit

    extension EnvironmentValues {
        /// The app's protection; nil until it has started, and in a view outside `cordon(_:)`.
        public var protection: AppProtection? {
            get { self[ProtectionKey.self] }
            set { self[ProtectionKey.self] = newValue }
        }
    }

    private struct ProtectionKey: EnvironmentKey {
        static let defaultValue: AppProtection? = nil
    }

    extension View {
        /// Starts the app's protection with the scene, and gives it to the views below as `\.protection`. Cordon's screens and covers are separate
        /// windows, above all windows of the app.
        public func cordon(_ app: ProtectedApp) -> some View { modifier(ProtectedScene(app: app)) }

        /// Shows the view for an account's data: Cordon passes the account's gate, and the window becomes the account's. While the gate is closed, a
        /// cover replaces the view. Nil is the person's own side.
        ///
        /// If the view could not be shown (the person cancelled, the app was not in front, or the window went to another account meanwhile), the
        /// cover offers a button to try again; when the gate opens, the view appears by itself.
        ///
        /// - Parameter app: The same one that the scene has.
        public func cordon(account: AccountID?, in app: ProtectedApp) -> some View {
            modifier(ProtectedView(account: account, app: app))
        }
    }

    private struct ProtectedScene: ViewModifier {
        let app: ProtectedApp

        func body(content: Content) -> some View {
            ZStack {
                if let protection = app.protection {
                    content.environment(\.protection, protection)
                } else if let failure = app.failure {
                    Text(failure).padding()
                } else {
                    ProgressView()
                }
            }
            .task { await app.run() }
        }
    }

    private struct ProtectedView: ViewModifier {
        /// One try to have the window show the identity.
        private struct Attempt: Equatable {
            let identity: Identity
            let window: WindowID?
            let hasStarted: Bool
            let number: Int
        }

        let account: AccountID?
        let app: ProtectedApp
        @State private var window: WindowID?
        @State private var shown: Identity?
        @State private var failed: Attempt?
        @State private var number = 0

        private var identity: Identity { account.map { .managed($0) } ?? .personal }
        private var attempt: Attempt {
            Attempt(identity: identity, window: window, hasStarted: app.protection != nil, number: number)
        }
        private var isOpen: Bool { account.map { app.isOpen($0) } ?? true }

        func body(content: Content) -> some View {
            ZStack {
                if shown == identity, isOpen {
                    content.privacySensitive(account != nil)
                } else if failed == attempt {
                    let cover = GateScreen.coverToTryAgain(of: account)
                    VStack(spacing: 16) {
                        Text(cover.title)
                        ForEach(cover.buttons, id: \.self) { button in Button(button.label) { number += 1 } }
                    }
                    .padding()
                } else {
                    Text(GateScreen.cover(of: account).title).padding()
                }
            }
            .background { WindowReader(window: $window) }
            .task(id: attempt) {
                // Its own window: a gate may open while another one is in front.
                guard let protection = app.protection, let window else { return }
                // A switch passes the gate, which would ask again where the rules have it ask at each opening. It does once more where the app has
                // taken the account from the window meanwhile.
                if isOpen, let its = IdentityContext.windowIdentity(of: window), IdentityContext.areSame(its, identity)
                {
                    (shown, failed) = (identity, nil)
                    return
                }
                (shown, failed) = (nil, nil)
                let outcome = await protection.windows.switchIdentity(to: identity, in: window)
                guard !Task.isCancelled else { return }
                guard outcome.result == .switched, isOpen else {
                    failed = attempt
                    return
                }
                shown = identity
            }
            // What was shown when the gate closed is shown again once it is certain that the window is the account's: the app may have been asked
            // to take it away meanwhile. A gate that something else has passed, such as the app's return to the front, is the sign.
            .onChange(of: isOpen) { _, isOpen in
                if !isOpen, shown == identity {
                    (shown, failed) = (nil, attempt)
                } else if isOpen, failed == attempt {
                    number += 1
                }
            }
        }
    }

    /// Reads which window its view stands in, which SwiftUI does not say.
    private struct WindowReader: UIViewRepresentable {
        @Binding var window: WindowID?

        func makeUIView(context: Context) -> Probe {
            let view = Probe()
            // Touches go to what lies behind it.
            view.isUserInteractionEnabled = false
            return view
        }

        func updateUIView(_ view: Probe, context: Context) { view.found = { window = $0 } }

        final class Probe: UIView {
            var found: (WindowID) -> Void = { _ in }

            override func didMoveToWindow() {
                super.didMoveToWindow()
                // Later, since no state may change while SwiftUI updates its views. Without a window it lies below another view of a navigation
                // stack, and comes back to the same one.
                Task { [weak self] in
                    if let scene = self?.window?.windowScene { self?.found(scene.id) }
                }
            }
        }
    }

    /// A button whose action needs a permit. When pressed, it asks the rules and hands its action the permit, or the refusal.
    ///
    /// ```swift
    /// PermitButton("Print", for: .may(.print, of: owner)) { box in … } refused: { denial = $0 }
    /// ```
    public struct PermitButton: View {
        private let title: String
        private let question: Question
        private let act: @MainActor (PermitBox) -> Void
        private let refused: @MainActor (ProtectionError) -> Void
        @Environment(\.protection) private var protection

        /// Makes a button.
        public init(
            _ title: String, for question: Question, act: @escaping @MainActor (PermitBox) -> Void,
            refused: @escaping @MainActor (ProtectionError) -> Void
        ) {
            self.title = title
            self.question = question
            self.act = act
            self.refused = refused
        }

        /// The button; it cannot be pressed before the protection has started.
        public var body: some View {
            Button(title) { press() }
                .disabled(protection == nil)
        }

        private func press() {
            guard let protection else { return }
            do { act(PermitBox(try protection.permit(for: question))) } catch { refused(error) }
        }
    }

    /// A ``GateScreen`` for apps that put it into views of their own instead of a window, drawn by ``GateViewController``.
    public struct GateScreenView: UIViewControllerRepresentable {
        private let shown: ShownScreen
        private let answer: @MainActor (GateAction, String, Int) -> Void

        /// Draws a screen.
        ///
        /// - Parameter answer: Called with what the person did, what is in the field, and the number of the screen.
        public init(_ shown: ShownScreen, answer: @escaping @MainActor (GateAction, String, Int) -> Void) {
            self.shown = shown
            self.answer = answer
        }

        /// What draws it.
        public func makeUIViewController(context: Context) -> GateViewController { GateViewController(answer) }

        /// Replaces the screen; what was typed in the old one is gone.
        public func updateUIViewController(_ controller: GateViewController, context: Context) {
            controller.answer = answer
            controller.show(shown)
        }
    }
#endif

#if canImport(SwiftUI) && canImport(UIKit)
    public import Cordon
    public import CordonScreens
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
        /// Starts the app's protection with the scene, and hands it to the views below as `\.protection`. Cordon's screens and covers are windows of
        /// their own, above all of the app's.
        public func cordon(_ app: ProtectedApp) -> some View { modifier(ProtectedScene(app: app)) }

        /// Shows the view for an account's data: the window becomes the account's, its gate is passed first, and while that is closed a cover stands in the
        /// view's place. Nil is the person's own side.
        ///
        /// - Parameter app: The same as the scene's.
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
        let account: AccountID?
        let app: ProtectedApp
        @State private var shown: Identity?

        private var identity: Identity { account.map { .managed($0) } ?? .personal }
        private var mayShow: Bool { shown == identity && (account.map { app.isOpen($0) } ?? true) }

        func body(content: Content) -> some View {
            ZStack {
                if mayShow {
                    content.privacySensitive(account != nil)
                } else {
                    Text(GateScreen.cover(of: account).title).padding()
                }
            }
            .task(id: identity) {
                shown = nil
                guard let protection = app.protection else { return }
                if await protection.windows.switchIdentity(to: identity).result == .switched { shown = identity }
            }
        }
    }

    /// A button whose action needs a permit: it asks when it is pressed, hands the permit over once, or the refusal.
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

    /// A ``GateScreen`` drawn in SwiftUI, for apps that put it into views of their own instead of a window.
    public struct GateScreenView: View {
        private let shown: ShownScreen
        private let answer: @MainActor (GateAction, String, Int) -> Void
        @State private var typed = ""

        /// Draws a screen.
        ///
        /// - Parameter answer: Told of what the person did, what stands in the field, and the number of the screen.
        public init(_ shown: ShownScreen, answer: @escaping @MainActor (GateAction, String, Int) -> Void) {
            self.shown = shown
            self.answer = answer
        }

        /// The screen, in the person's size of text.
        public var body: some View {
            ScrollView {
                VStack(alignment: .leading, spacing: 16) {
                    Text(shown.screen.title).font(.title).accessibilityAddTraits(.isHeader)
                    ForEach(shown.screen.lines, id: \.self) { line in
                        Text(line.text).font(line.role == .remedy || line.role == .account ? .footnote : .body)
                            .foregroundStyle(line.role == .problem ? Color.red : color)
                    }
                    if let field = shown.screen.field {
                        SecureField(field.label, text: $typed).keyboardType(field.digitsOnly ? .numberPad : .default)
                            .onSubmit {
                                if let main = shown.screen.buttons.first(where: \.isMain) { give(main.action) }
                            }
                    }
                    ForEach(shown.screen.buttons, id: \.self) { button in
                        Button(button.label) { give(button.action) }
                    }
                }
                .padding()
            }
            .tint(shown.screen.theme.accent.map { Color($0) })
            .background(shown.screen.theme.background.map { Color($0) } ?? .clear)
            .preferredColorScheme(shown.screen.theme.supportsDarkMode ? nil : .light)
            .accessibilityAddTraits(.isModal)
        }

        private var color: Color { shown.screen.theme.textColor.map { Color($0) } ?? .primary }

        private func give(_ action: GateAction) {
            let given = typed
            typed = ""
            answer(action, given, shown.id)
        }
    }

    extension Color {
        init(_ color: ProtectionTheme.Color) {
            self.init(red: Double(color.red) / 255, green: Double(color.green) / 255, blue: Double(color.blue) / 255)
        }
    }
#endif

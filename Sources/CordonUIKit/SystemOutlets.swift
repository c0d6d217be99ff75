#if canImport(UIKit)
    public import Cordon
    internal import CordonScreens
    public import Foundation
    public import UIKit

    /// The system's printing dialog as a ``Printer``.
    public struct SystemPrinter: Printer {
        /// Makes a printer.
        public init() {}

        /// Shows the dialog and returns when the document is with the system.
        ///
        /// - Throws: ``ProtectionError`` with code `outletFailed` where nothing can be printed, `CancellationError` when the person cancelled.
        public func print(_ document: Data, title: String) async throws { try await Self.show(document, title) }

        @MainActor private static func show(_ document: Data, _ title: String) async throws {
            guard UIPrintInteractionController.isPrintingAvailable, UIPrintInteractionController.canPrint(document)
            else {
                throw ProtectionError(.outletFailed, "this cannot be printed here")
            }
            let controller = UIPrintInteractionController.shared
            let info = UIPrintInfo.printInfo()
            info.jobName = title
            controller.printInfo = info
            controller.printingItem = document
            // The controller is the app's one: what was printed is not to stay in it.
            defer { controller.printingItem = nil }
            let once = FirstCall()
            let isDone = await withCheckedContinuation { continuation in
                let isShown = controller.present(animated: true) { _, isDone, _ in
                    if once.isMine() { continuation.resume(returning: isDone) }
                }
                if !isShown, once.isMine() { continuation.resume(returning: false) }
            }
            if !isDone { throw CancellationError() }
        }
    }

    /// The system as a ``LinkOpener``.
    public struct SystemLinkOpener: LinkOpener {
        private let universalLinksOnly: Bool

        /// Makes an opener.
        ///
        /// - Parameter universalLinksOnly: Whether an address opens only in an app that claims it, and not in a browser.
        public init(universalLinksOnly: Bool = false) {
            self.universalLinksOnly = universalLinksOnly
        }

        /// Opens an address.
        ///
        /// - Throws: ``ProtectionError`` with code `outletFailed` when nothing took it.
        public func open(_ address: URL) async throws {
            guard await Self.show(address, universalLinksOnly) else {
                throw ProtectionError(.outletFailed, "nothing opened the link")
            }
        }

        @MainActor private static func show(_ address: URL, _ universalLinksOnly: Bool) async -> Bool {
            await UIApplication.shared.open(address, options: [.universalLinksOnly: universalLinksOnly])
        }
    }

    extension AppProtection {
        /// Whether an extension of another maker may be used in the app (SDK-EX): what `application(_:shouldAllowExtensionPointIdentifier:)` answers.
        @MainActor public func allows(_ point: UIApplication.ExtensionPointIdentifier, for owner: Identity) -> Bool {
            point != .keyboard || rules.verdict(for: .may(.useKeyboard, of: owner)).permits
        }

        /// Gives a text view what the rules let the system do with an account's text: writing tools and made images.
        @MainActor public func guardInput(of view: UITextView, for owner: Identity) {
            if #available(iOS 18.0, *) {
                if !rules.verdict(for: .may(.useWritingTools, of: owner)).permits { view.writingToolsBehavior = .none }
                view.supportsAdaptiveImageGlyph = rules.verdict(for: .may(.useGenmoji, of: owner)).permits
            }
        }
    }
#endif

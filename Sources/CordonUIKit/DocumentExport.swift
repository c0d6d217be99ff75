#if canImport(UIKit)
    public import Cordon
    internal import CordonScreens
    public import Foundation
    public import UIKit
    internal import UniformTypeIdentifiers

    /// The system's document picker as a ``SavePlace``: the person chooses where a plain copy goes.
    ///
    /// Which place was chosen is not known before, so ask with ``Location/other``. Main actor for the controller; any thread for the call.
    public struct PickedPlace: SavePlace {
        private let files: HandedOutFiles
        private let controller: @MainActor @Sendable () -> UIViewController?

        /// Makes a place.
        ///
        /// - Parameters:
        ///   - files: Where the copy lies until it is chosen.
        ///   - controller: What the picker is shown on.
        public init(_ files: HandedOutFiles, on controller: @escaping @MainActor @Sendable () -> UIViewController?) {
            self.files = files
            self.controller = controller
        }

        /// Shows the picker and returns when a copy lies where the person wanted it.
        ///
        /// - Throws: `CancellationError` when the person cancelled, ``ProtectionError`` when nothing could be shown.
        public func save(_ copy: Data, named name: String) async throws {
            let file = try files.handOut(copy, named: name, of: .personal)
            defer { files.takeBack(file) }
            let chosen = try await DocumentChoice.show(on: controller) {
                UIDocumentPickerViewController(forExporting: [file], asCopy: true)
            }
            if chosen.isEmpty { throw CancellationError() }
        }
    }

    extension AppProtection {
        /// Has the person choose a document and takes it in, if the rules of the account let documents in from there (SDK-DT-13).
        ///
        /// - Parameters:
        ///   - owner: Whose it becomes.
        ///   - controller: What the picker is shown on.
        /// - Returns: The document with its owner; nil when the person cancelled.
        /// - Throws: ``ProtectionError``: `denied` with every reason, another when nothing could be shown or read.
        public nonisolated func openDocument(
            for owner: Identity, on controller: @escaping @MainActor @Sendable () -> UIViewController?
        ) async throws -> TakenItem? {
            let decision = decision(for: .open(from: .other, for: owner))
            guard decision.verdict.permits else { throw ProtectionError(denied: decision) }
            let chosen = try await DocumentChoice.show(on: controller) {
                UIDocumentPickerViewController(forOpeningContentTypes: [.data], asCopy: true)
            }
            guard let file = chosen.first else { return nil }
            guard let contents = try? Data(contentsOf: file) else {
                throw ProtectionError(.damagedContent, "the document cannot be read")
            }
            // The picker has made a copy in the app's own folder, which nothing else removes.
            try? FileManager.default.removeItem(at: file)
            return TakenItem(owner: owner, name: file.lastPathComponent, contents: contents)
        }
    }

    /// One showing of the picker.
    @MainActor private final class DocumentChoice: NSObject, UIDocumentPickerDelegate {
        // The picker does not keep its delegate.
        private static var shown: Set<DocumentChoice> = []
        private var waiting: CheckedContinuation<[URL], Never>?

        static func show(
            on controller: @MainActor @Sendable () -> UIViewController?,
            _ picker: @MainActor @Sendable () -> UIDocumentPickerViewController
        ) async throws -> [URL] {
            guard let controller = controller() else {
                throw ProtectionError(.outletFailed, "there is nothing to show the picker on")
            }
            let choice = DocumentChoice()
            let picker = picker()
            picker.delegate = choice
            shown.insert(choice)
            return await withCheckedContinuation { continuation in
                choice.waiting = continuation
                controller.present(picker, animated: true)
            }
        }

        func documentPicker(_ controller: UIDocumentPickerViewController, didPickDocumentsAt urls: [URL]) {
            finish(urls)
        }
        func documentPickerWasCancelled(_ controller: UIDocumentPickerViewController) { finish([]) }

        private func finish(_ urls: [URL]) {
            waiting?.resume(returning: urls)
            waiting = nil
            Self.shown.remove(self)
        }
    }
#endif

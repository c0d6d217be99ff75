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
        private let owner: Identity
        private let controller: @MainActor @Sendable () -> UIViewController?

        /// Makes a place.
        ///
        /// - Parameters:
        ///   - files: Where the copy lies until it is chosen.
        ///   - owner: Whose it is: a gate that closes while the person chooses takes the copy away.
        ///   - controller: What the picker is shown on.
        public init(
            _ files: HandedOutFiles, of owner: Identity,
            on controller: @escaping @MainActor @Sendable () -> UIViewController?
        ) {
            self.files = files
            self.owner = owner
            self.controller = controller
        }

        /// Shows the picker and returns when a copy lies where the person wanted it.
        ///
        /// - Throws: `CancellationError` when the person cancelled, ``ProtectionError`` when nothing could be shown, or the copy was taken away
        ///   meanwhile.
        public func save(_ copy: Data, named name: String) async throws {
            let file = try files.handOut(copy, named: name, of: owner)
            defer { files.takeBack(file) }
            let chosen = try await DocumentChoice.show(on: controller) {
                UIDocumentPickerViewController(forExporting: [file], asCopy: true)
            }
            if chosen.isEmpty { throw CancellationError() }
            guard FileManager.default.fileExists(atPath: file.path) else {
                throw ProtectionError(.gateClosed, "the account's gate was closed before a place was chosen")
            }
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
            try requireOpening(for: owner)
            let chosen = try await DocumentChoice.show(on: controller) {
                UIDocumentPickerViewController(forOpeningContentTypes: [.data], asCopy: true)
            }
            // The picker has made a copy in the app's own folder, which nothing else removes.
            defer { for copy in chosen { try? FileManager.default.removeItem(at: copy) } }
            guard let file = chosen.first else { return nil }
            // The person may have taken minutes.
            try requireOpening(for: owner)
            guard let contents = try? Data(contentsOf: file) else {
                throw ProtectionError(.damagedContent, "the document cannot be read")
            }
            return TakenItem(owner: owner, name: file.lastPathComponent, contents: contents)
        }

        private nonisolated func requireOpening(for owner: Identity) throws(ProtectionError) {
            let decision = decision(for: .open(from: .other, for: owner))
            guard decision.verdict.permits else { throw ProtectionError(denied: decision) }
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
            let controller = try Presenter.free(controller)
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

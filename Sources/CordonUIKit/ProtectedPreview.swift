#if canImport(UIKit) && canImport(QuickLook)
    public import Cordon
    public import CordonScreens
    public import Foundation
    public import QuickLook
    internal import UIKit

    /// Quick Look for a sealed file: it hands out a plain copy while the preview is on screen, and removes the copy with the preview.
    ///
    /// The system's preview has its own ways out in its toolbar. If the rules do not let the data go to every app, `open` refuses; draw such
    /// a document with the app's own views. Main actor.
    @MainActor
    public final class ProtectedPreview: QLPreviewController, QLPreviewControllerDataSource,
        QLPreviewControllerDelegate
    {
        private let files: HandedOutFiles
        private let file: URL

        /// Opens a preview.
        ///
        /// - Throws: ``ProtectionError``: `denied` with every reason when the data may not go to any app or the gate is closed, another when no copy
        /// could be made.
        public static func open(
            _ contents: Data, named name: String, of owner: Identity, by protection: AppProtection,
            handedOutBy files: HandedOutFiles
        ) throws -> ProtectedPreview {
            // A permit is given behind an open gate alone.
            _ = try protection.permit(for: .send(to: .unmanagedApp, of: owner)).decision
            return ProtectedPreview(try files.handOut(contents, named: name, of: owner), files)
        }

        private init(_ file: URL, _ files: HandedOutFiles) {
            self.file = file
            self.files = files
            super.init(nibName: nil, bundle: nil)
            dataSource = self
            delegate = self
        }

        /// Not from a storyboard.
        @available(*, unavailable)
        public required init?(coder: NSCoder) { nil }

        /// One file.
        public func numberOfPreviewItems(in controller: QLPreviewController) -> Int { 1 }

        /// The copy.
        public func previewController(_ controller: QLPreviewController, previewItemAt index: Int) -> any QLPreviewItem
        {
            PreviewItem(file)
        }

        /// Takes the copy away.
        public func previewControllerDidDismiss(_ controller: QLPreviewController) { files.takeBack(file) }
    }

    @MainActor private final class PreviewItem: NSObject, QLPreviewItem {
        let previewItemURL: URL?
        init(_ file: URL) { previewItemURL = file }
    }
#endif

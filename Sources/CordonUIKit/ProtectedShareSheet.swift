#if canImport(UIKit)
    public import Cordon
    internal import CordonScreens
    public import Foundation
    public import UIKit

    /// The system's share sheet for an account's data, without what the rules refuse (SDK-SX-01).
    ///
    /// The sheet cannot know that an app is managed. If data may go to managed apps only, there is no sheet: use
    /// ``EgressOutlets/openIn(_:named:of:by:permit:)`` instead. Main actor.
    @MainActor public final class ProtectedShareSheet: UIActivityViewController {
        /// Makes a sheet for a plain copy of a file.
        ///
        /// - Parameters:
        ///   - file: The copy, such as of `HandedOutFiles`; it has to stay until the sheet is gone.
        ///   - owner: Whose it is.
        ///   - whenDone: Called when the sheet has ended, to take the copy back.
        /// - Throws: ``ProtectionError``: `denied` with every reason when it may not go to any app.
        public convenience init(
            _ file: URL, of owner: Identity, by protection: AppProtection, whenDone: @escaping () -> Void = {}
        ) throws(ProtectionError) {
            // It is not known which app the person will choose: the rules are asked about any.
            _ = try protection.permit(for: .send(to: .unmanagedApp, of: owner)).decision
            self.init(activityItems: [file], applicationActivities: nil)
            excludedActivityTypes = Self.excluded(for: owner, by: protection)
            tellEnd { _ in whenDone() }
        }

        /// What the rules leave out of a sheet.
        static func excluded(for owner: Identity, by protection: AppProtection) -> [UIActivity.ActivityType] {
            let targets: [(UIActivity.ActivityType, ShareTarget)] = [
                (.print, ShareTarget(.print, "print")), (.copyToPasteboard, ShareTarget(.clipboard, "pasteboard")),
                (.saveToCameraRoll, ShareTarget(.photos, "photos")), (.airDrop, ShareTarget(.otherApp, "airdrop")),
                (.mail, ShareTarget(.otherApp, "mail")), (.message, ShareTarget(.otherApp, "messages")),
                (.assignToContact, ShareTarget(.otherApp, "contacts")),
                (.addToReadingList, ShareTarget(.otherApp, "reading list")),
                (.openInIBooks, ShareTarget(.otherApp, "books")), (.markupAsPDF, ShareTarget(.files, "markup")),
                (.collaborationCopyLink, ShareTarget(.clipboard, "link")),
                (.addToHomeScreen, ShareTarget(.otherApp, "home screen")),
            ]
            let shown = Set(protection.outlets.shareSheet(targets.map(\.1), for: owner).shown)
            return targets.filter { !shown.contains($0.1) }.map(\.0)
        }
    }

    extension UIActivityViewController {
        /// Reports once, when the sheet ends, whether an activity completed.
        ///
        /// The system calls for an activity that the person gave up, which leaves the sheet up, and again when the sheet goes. Here it goes with
        /// the first of them, so that what was told stays true.
        func tellEnd(_ told: @escaping (Bool) -> Void) {
            let once = FirstCall()
            completionWithItemsHandler = { [weak self] activity, isDone, _, _ in
                guard once.isMine() else { return }
                // Told after the sheet has gone where it is closed here. Otherwise it goes by itself, and the system does not promise to tell the
                // end of a second dismissal.
                guard !isDone, activity != nil, let self, !isBeingDismissed, let presenting = presentingViewController
                else { return told(isDone) }
                presenting.dismiss(animated: true) { told(false) }
            }
        }
    }
#endif

#if canImport(UIKit)
    public import Cordon
    internal import CordonScreens
    public import Foundation
    public import UIKit

    /// Dragging an account's text out of a view: in plain where the rules let it go to every app, within the app alone otherwise. Main actor.
    @MainActor public final class ProtectedDrag: NSObject, UIDragInteractionDelegate {
        private let protection: AppProtection
        private let owner: () -> Identity
        private let text: () -> String?

        /// Makes a delegate; give it to a `UIDragInteraction`, and keep it as long as that.
        public init(_ protection: AppProtection, owner: @escaping () -> Identity, text: @escaping () -> String?) {
            self.protection = protection
            self.owner = owner
            self.text = text
        }

        /// The text; nothing where it may not even be copied within the account's apps.
        public func dragInteraction(
            _ interaction: UIDragInteraction, itemsForBeginning session: any UIDragSession
        ) -> [UIDragItem] {
            guard let text = text(), maySend(to: owner().account.map { .managed($0) } ?? .personal) else { return [] }
            session.localContext = owner()
            let provider = NSItemProvider()
            // No other app may load what the rules keep from other apps, whatever the session allows.
            provider.registerDataRepresentation(
                forTypeIdentifier: PasteboardCodec.textType, visibility: maySend(to: .unmanagedApp) ? .all : .ownProcess
            ) { load in
                load(Data(text.utf8), nil)
                return nil
            }
            return [UIDragItem(itemProvider: provider)]
        }

        /// Whether the text stays within the app.
        public func dragInteraction(
            _ interaction: UIDragInteraction, sessionIsRestrictedToDraggingApplication session: any UIDragSession
        ) -> Bool { !maySend(to: .unmanagedApp) }

        private func maySend(to peer: Peer) -> Bool {
            let owner = owner()
            return protection.rules.verdict(for: .send(to: peer, of: owner)).permits
                && protection.rules.verdict(for: .copy(text()?.count, for: peer, of: owner)) < .block
        }
    }

    /// Taking what is dropped on a view for an account, if the rules let it in (SDK-DT-18). Main actor.
    @MainActor public final class ProtectedDrop: NSObject, UIDropInteractionDelegate {
        private let protection: AppProtection
        private let receiver: () -> Identity
        private let take: @MainActor @Sendable (Data, Identity) -> Void

        /// Makes a delegate; give it to a `UIDropInteraction`, and keep it as long as that.
        ///
        /// - Parameter take: Takes the text that was dropped, for the one it was dropped on.
        public init(
            _ protection: AppProtection, receiver: @escaping () -> Identity,
            take: @escaping @MainActor @Sendable (Data, Identity) -> Void
        ) {
            self.protection = protection
            self.receiver = receiver
            self.take = take
        }

        /// Whether something may be dropped at all.
        public func dropInteraction(_ interaction: UIDropInteraction, canHandle session: any UIDropSession) -> Bool {
            allows(session)
                && session.items.contains {
                    $0.itemProvider.hasItemConformingToTypeIdentifier(PasteboardCodec.textType)
                }
        }

        /// Copies, or refuses.
        public func dropInteraction(
            _ interaction: UIDropInteraction, sessionDidUpdate session: any UIDropSession
        ) -> UIDropProposal { UIDropProposal(operation: allows(session) ? .copy : .forbidden) }

        /// Takes what was dropped; asks once more, because the account may be another one by now.
        public func dropInteraction(_ interaction: UIDropInteraction, performDrop session: any UIDropSession) {
            guard allows(session) else { return }
            let receiver = receiver()
            for item in session.items {
                item.itemProvider.loadDataRepresentation(forTypeIdentifier: PasteboardCodec.textType) {
                    [take] data, _ in
                    guard let data else { return }
                    Task { @MainActor in take(data, receiver) }
                }
            }
        }

        private func allows(_ session: any UIDropSession) -> Bool {
            let receiver = receiver()
            // Within the app the owner of what is dragged is known, and asked about as one of its accounts.
            if let dragged = session.localDragSession?.localContext as? Identity {
                let sender: Peer = dragged.account.map { .managed($0) } ?? .personal
                return protection.rules.verdict(for: .receive(from: sender, for: receiver)).permits
            }
            return protection.rules.verdict(for: .receive(from: .unmanagedApp, for: receiver)).permits
                && protection.rules.verdict(for: .receiveItem(loaded: true, for: receiver)).permits
        }
    }
#endif

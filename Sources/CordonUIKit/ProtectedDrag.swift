#if canImport(UIKit)
    public import Cordon
    internal import CordonScreens
    public import Foundation
    public import UIKit

    /// Drags an account's text out of a view: as plain text if the rules let it go to every app, else only within the app. Main actor.
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
            let owner = owner()
            guard let text = text(), Self.maySend(text, to: .own(owner), of: owner, protection) else { return [] }
            session.localContext = owner
            let isForAll = Self.maySend(text, to: .unmanagedApp, of: owner, protection)
            let provider = NSItemProvider()
            // No other app may load what the rules keep from other apps, whatever the session allows.
            provider.registerDataRepresentation(
                forTypeIdentifier: PasteboardCodec.textType, visibility: isForAll ? .all : .ownProcess
            ) { [protection] load in
                // It is loaded where it is dropped, by when rules and gate may have changed.
                if Self.maySend(text, to: isForAll ? .unmanagedApp : .own(owner), of: owner, protection),
                    owner.account.map({ protection.rules.mayShow($0) }) ?? true
                {
                    load(Data(text.utf8), nil)
                } else {
                    load(nil, ProtectionError(.permitOutdated, "the text may not be taken any more"))
                }
                return nil
            }
            return [UIDragItem(itemProvider: provider)]
        }

        /// Whether the text stays within the app.
        public func dragInteraction(
            _ interaction: UIDragInteraction, sessionIsRestrictedToDraggingApplication session: any UIDragSession
        ) -> Bool { !(text().map { Self.maySend($0, to: .unmanagedApp, of: owner(), protection) } ?? false) }

        private nonisolated static func maySend(
            _ text: String, to peer: Peer, of owner: Identity, _ protection: AppProtection
        ) -> Bool {
            protection.rules.verdict(for: .send(to: peer, of: owner)).permits
                && protection.rules.verdict(for: .copy(text.count, for: peer, of: owner)).permits
        }
    }

    extension Peer {
        /// An identity within this app.
        fileprivate static func own(_ identity: Identity) -> Peer {
            identity.account.map { .managed($0) } ?? .personal
        }
    }

    /// Takes what is dropped on a view for an account, if the rules of both sides let it in and let text be pasted there (SDK-DT-18). Main actor.
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
            allows(nil, from: session.sender, for: receiver())
                && session.items.contains {
                    $0.itemProvider.hasItemConformingToTypeIdentifier(PasteboardCodec.textType)
                }
        }

        /// Copies, or refuses.
        public func dropInteraction(
            _ interaction: UIDropInteraction, sessionDidUpdate session: any UIDropSession
        ) -> UIDropProposal {
            UIDropProposal(operation: allows(nil, from: session.sender, for: receiver()) ? .copy : .forbidden)
        }

        /// Takes what was dropped, for the account it was dropped on; asks once more when it has come, since only then its length is known, and
        /// rules and gate may have changed.
        public func dropInteraction(_ interaction: UIDropInteraction, performDrop session: any UIDropSession) {
            let (sender, receiver) = (session.sender, receiver())
            guard allows(nil, from: sender, for: receiver) else { return }
            for item in session.items {
                item.itemProvider.loadDataRepresentation(forTypeIdentifier: PasteboardCodec.textType) {
                    [weak self] data, _ in
                    guard let data, let self else { return }
                    Task { @MainActor in self.takeIfAllowed(data, from: sender, for: receiver) }
                }
            }
        }

        private func takeIfAllowed(_ data: Data, from sender: Identity?, for receiver: Identity) {
            let characters = String(decoding: data, as: UTF8.self).count
            if allows(characters, from: sender, for: receiver) { take(data, receiver) }
        }

        /// - Parameters:
        ///   - characters: How long the text is; nil before it has come.
        ///   - sender: Whose it is, where it comes from this app; nil for what comes from any other.
        private func allows(_ characters: Int?, from sender: Identity?, for receiver: Identity) -> Bool {
            // Within the app the owner of what is dragged is known, and asked about as one of its accounts.
            let peer = sender.map { Peer.own($0) } ?? .unmanagedApp
            if let account = sender?.account, !protection.rules.mayShow(account) { return false }
            let rules = protection.rules
            return rules.verdict(for: .receive(from: peer, for: receiver)).permits
                && rules.verdict(for: .paste(characters, from: peer, for: receiver)).permits
                && (sender != nil || rules.verdict(for: .receiveItem(loaded: true, for: receiver)).permits)
        }
    }

    extension UIDropSession {
        /// Whose data is dropped, where it comes from this app.
        fileprivate var sender: Identity? { localDragSession?.localContext as? Identity }
    }

    extension Question {
        /// Whether a text of so many characters may be pasted from another app or account.
        fileprivate static func paste(_ characters: Int?, from peer: Peer, for receiver: Identity) -> Question {
            var question = Question(.paste, owner: EffectiveIdentity(receiver))
            question.peer = peer
            question.characters = characters
            return question
        }
    }
#endif

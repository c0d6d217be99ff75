#if canImport(UIKit) && canImport(FileProvider)
    public import Cordon
    public import FileProvider
    public import Foundation

    /// An enumerator that shows one owner's items and their changes, and none while the owner's files may not be listed (SDK-EX-06).
    ///
    /// While they may not, there is no sync anchor, and a list or its changes end with the error that ``ProtectedFileProvider`` describes;
    /// the system then keeps its last anchor, so that nothing that changed meanwhile is missed.
    public final class ProtectedProviderEnumerator: NSObject, NSFileProviderEnumerator {
        package typealias Changes = (any NSFileProviderChangeObserver, NSFileProviderSyncAnchor) -> Void
        package typealias Anchor = (@escaping (NSFileProviderSyncAnchor?) -> Void) -> Void

        private let stored: any NSFileProviderEnumerator
        private let changes: Changes?
        private let anchor: Anchor?
        private let owner: Identity
        private let protection: @Sendable () async throws -> AppProtection

        /// Puts an enumerator under an owner.
        public convenience init(
            _ stored: any NSFileProviderEnumerator, of owner: Identity,
            protection: @escaping @Sendable () async throws -> AppProtection
        ) {
            // The system's protocol leaves both calls optional.
            self.init(
                stored, of: owner, changes: stored.enumerateChanges(for:from:),
                anchor: stored.currentSyncAnchor(completionHandler:), protection: protection)
        }

        /// Puts an enumerator under an owner that tells changes only where there is a call for them.
        package init(
            _ stored: any NSFileProviderEnumerator, of owner: Identity, changes: Changes?, anchor: Anchor?,
            protection: @escaping @Sendable () async throws -> AppProtection
        ) {
            self.stored = stored
            self.changes = changes
            self.anchor = anchor
            self.owner = owner
            self.protection = protection
        }

        /// Stops listing.
        public func invalidate() { stored.invalidate() }

        /// Lists a page of the owner's items.
        public func enumerateItems(
            for observer: any NSFileProviderEnumerationObserver, startingAt page: NSFileProviderPage
        ) {
            // The system lets an observer be told from any thread; one task tells this one.
            nonisolated(unsafe) let (stored, told) = (stored, OwnerItemFilter(observer, of: owner))
            whileListed {
                stored.enumerateItems(for: told, startingAt: page)
            } refused: {
                told.finishEnumeratingWithError($0)
            }
        }

        /// Lists what has changed since an anchor: an item that is no longer the owner's counts as deleted.
        ///
        /// Where the provider's own enumerator tells no changes, the anchor has expired, and the system lists the container again.
        public func enumerateChanges(
            for observer: any NSFileProviderChangeObserver, from syncAnchor: NSFileProviderSyncAnchor
        ) {
            // As above.
            nonisolated(unsafe) let (enumerate, told) = (changes, OwnersChanges(observer, of: owner))
            whileListed {
                guard let enumerate else {
                    return told.finishEnumeratingWithError(ProviderRefusal.error(.syncAnchorExpired))
                }
                enumerate(told, syncAnchor)
            } refused: {
                told.finishEnumeratingWithError($0)
            }
        }

        /// The anchor of what is listed now; nil while nothing may be listed, and where the provider's own enumerator has none.
        public func currentSyncAnchor(completionHandler: @escaping (NSFileProviderSyncAnchor?) -> Void) {
            // As above; the one answer may come from any thread.
            nonisolated(unsafe) let (ask, answer) = (anchor, completionHandler)
            whileListed {
                guard let ask else { return answer(nil) }
                ask(answer)
            } refused: { _ in
                answer(nil)
            }
        }

        private func whileListed(
            _ act: @escaping @Sendable () -> Void, refused: @escaping @Sendable (any Error) -> Void
        ) {
            let (owner, protection) = (owner, protection)
            Task {
                do { try ProviderRefusal.requireListing(of: owner, by: await protection()) } catch {
                    return refused(ProviderRefusal.told(error))
                }
                act()
            }
        }
    }

    /// Passes on what is the owner's; an item that does not say whose it is counts as another owner's.
    private final class OwnerItemFilter: NSObject, NSFileProviderEnumerationObserver {
        private let observer: any NSFileProviderEnumerationObserver
        private let owner: Identity

        init(_ observer: any NSFileProviderEnumerationObserver, of owner: Identity) {
            self.observer = observer
            self.owner = owner
        }

        func didEnumerate(_ updatedItems: [any NSFileProviderItemProtocol]) {
            observer.didEnumerate(updatedItems.filter { $0.belongs(to: owner) })
        }

        func finishEnumerating(upTo nextPage: NSFileProviderPage?) { observer.finishEnumerating(upTo: nextPage) }

        func finishEnumeratingWithError(_ error: any Error) { observer.finishEnumeratingWithError(error) }
    }

    /// Passes on changes of what is the owner's. An item that has become another's may have been listed before: it is taken away by its identifier,
    /// which says nothing about it.
    private final class OwnersChanges: NSObject, NSFileProviderChangeObserver {
        private let observer: any NSFileProviderChangeObserver
        private let owner: Identity

        init(_ observer: any NSFileProviderChangeObserver, of owner: Identity) {
            self.observer = observer
            self.owner = owner
        }

        func didUpdate(_ updatedItems: [any NSFileProviderItemProtocol]) {
            var (own, others): ([any NSFileProviderItemProtocol], [NSFileProviderItemIdentifier]) = ([], [])
            for item in updatedItems {
                if item.belongs(to: owner) {
                    own.append(item)
                } else {
                    others.append(item.itemIdentifier)
                }
            }
            if !own.isEmpty { observer.didUpdate(own) }
            if !others.isEmpty { observer.didDeleteItems(withIdentifiers: others) }
        }

        func didDeleteItems(withIdentifiers deletedItemIdentifiers: [NSFileProviderItemIdentifier]) {
            observer.didDeleteItems(withIdentifiers: deletedItemIdentifiers)
        }

        func finishEnumeratingChanges(upTo anchor: NSFileProviderSyncAnchor, moreComing: Bool) {
            observer.finishEnumeratingChanges(upTo: anchor, moreComing: moreComing)
        }

        func finishEnumeratingWithError(_ error: any Error) { observer.finishEnumeratingWithError(error) }
    }

    extension NSFileProviderItemProtocol {
        /// Whether the item says that it is an owner's, by whichever of the account's names.
        fileprivate func belongs(to owner: Identity) -> Bool {
            (self as? any OwnedProviderItem).map { IdentityContext.areSame($0.owner, owner) } ?? false
        }
    }

    /// What the system is told of a refusal. It takes errors of other domains for passing ones and would ask again and again.
    enum ProviderRefusal {
        /// An error as the system reads it; its own errors stay as they are.
        static func told(_ error: any Error) -> any Error {
            guard let refusal = error as? ProtectionError else { return error }
            switch refusal.code {
            case .gateClosed, .notEnrolled, .wipeUnderWay: return self.error(.notAuthenticated, for: refusal)
            default: return self.error(.cannotSynchronize, for: refusal)
            }
        }

        /// Refuses while an owner's files may not be listed; that passes once the person has signed in and the gate is open.
        static func requireListing(of owner: Identity, by protection: AppProtection) throws {
            do { try protection.files.requireProviding(of: owner) } catch {
                throw self.error(.notAuthenticated, for: error)
            }
        }

        /// One of the system's errors.
        static func error(_ code: NSFileProviderError.Code, for cause: ProtectionError? = nil) -> any Error {
            var details: [String: Any] = [
                NSLocalizedDescriptionKey: cause?.reason ?? "the container is to be listed again"
            ]
            if let cause { details[NSUnderlyingErrorKey] = cause }
            return NSError(domain: NSFileProviderErrorDomain, code: code.rawValue, userInfo: details)
        }
    }
#endif

#if canImport(UIKit) && canImport(FileProvider)
    public import Cordon
    public import FileProvider
    public import Foundation

    /// An item of a file provider that names its owner (SDK-EX-06).
    public protocol OwnedProviderItem: NSFileProviderItemProtocol {
        /// The file's or folder's owner.
        var owner: Identity { get }
    }

    /// The principal class of a file provider extension under the rules: what the system asks for is handed out as a copy, sealed where the
    /// owner's rules say so, what it brings is taken in where they let it, and every list shows one owner's items (SDK-EX-04…06).
    ///
    /// Override `protection`, `owner(ofContainer:)`, `storedItem(for:)`, `storedFile(for:)`, `storedEnumerator(for:)`, `keep(_:fields:contents:owner:)`
    /// and `remove(_:)`; the system's own calls are answered here. The system calls from any thread, side by side, so overrides guard what
    /// they share.
    ///
    /// A refusal reaches the system as one of its own errors, with the ``ProtectionError`` under `NSUnderlyingErrorKey`:
    /// `notAuthenticated` while the owner's gate is closed or the account is not enrolled, else `cannotSynchronize`. The system asks again
    /// only when the app says that the cause has passed (`NSFileProviderManager.signalErrorResolved`), for example after the gate has opened.
    open class ProtectedFileProvider: NSObject, NSFileProviderReplicatedExtension {
        /// The domain that the system made the extension for.
        public let domain: NSFileProviderDomain

        /// Makes the extension; the system does.
        public required init(domain: NSFileProviderDomain) {
            self.domain = domain
            super.init()
        }

        // MARK: To be overridden

        /// The extension's protection, started once. Have it ``AppProtection/keepUp()`` in a task of its own: the system runs a file provider for
        /// long, and it follows what its app has stored only when it looks.
        open func protection() async throws -> AppProtection { throw Self.missing }
        /// Whose items lie in a container.
        open func owner(ofContainer container: NSFileProviderItemIdentifier) throws -> Identity { throw Self.missing }
        /// An item by its identifier.
        open func storedItem(for identifier: NSFileProviderItemIdentifier) async throws -> any OwnedProviderItem {
            throw Self.missing
        }
        /// The provider's own file of an item, which stays as it is.
        open func storedFile(for identifier: NSFileProviderItemIdentifier) async throws -> URL { throw Self.missing }
        /// An enumerator of a container and of its changes; its items are ``OwnedProviderItem``.
        open func storedEnumerator(
            for container: NSFileProviderItemIdentifier
        ) throws -> any NSFileProviderEnumerator { throw Self.missing }
        /// Keeps an item that is new or has changed, and returns it as it is now.
        ///
        /// - Parameter contents: A copy that the provider may move; nil where contents have not changed.
        open func keep(
            _ item: any NSFileProviderItemProtocol, fields: NSFileProviderItemFields, contents: URL?, owner: Identity
        ) async throws -> any OwnedProviderItem { throw Self.missing }
        /// Removes an item.
        open func remove(_ identifier: NSFileProviderItemIdentifier) async throws { throw Self.missing }
        /// Where copies are made, on the volume of the provider's files; below one of the protected roots, where a wipe finds them.
        open func copiesFolder() throws -> URL { throw Self.missing }
        /// Stops the extension's work.
        open func invalidate() {}

        // MARK: The system's calls

        /// Lists a container.
        public func enumerator(
            for containerItemIdentifier: NSFileProviderItemIdentifier, request: NSFileProviderRequest
        ) throws -> any NSFileProviderEnumerator {
            // The extension is the system's; its protection may be asked for from any thread.
            nonisolated(unsafe) let own = self
            do {
                let owner = try owner(ofContainer: containerItemIdentifier)
                return ProtectedProviderEnumerator(try storedEnumerator(for: containerItemIdentifier), of: owner) {
                    try await own.protection()
                }
            } catch { throw ProviderRefusal.told(error) }
        }

        /// Gives an item.
        public func item(
            for identifier: NSFileProviderItemIdentifier, request: NSFileProviderRequest,
            completionHandler: @escaping ((any NSFileProviderItemProtocol)?, (any Error)?) -> Void
        ) -> Progress {
            // The system calls an extension from any thread, side by side, and takes the one answer on any.
            nonisolated(unsafe) let (own, answer) = (self, completionHandler)
            return Self.work {
                do { answer(try await own.listed(identifier), nil) } catch { answer(nil, ProviderRefusal.told(error)) }
            }
        }

        /// Gives a copy of an item's contents.
        public func fetchContents(
            for itemIdentifier: NSFileProviderItemIdentifier, version requestedVersion: NSFileProviderItemVersion?,
            request: NSFileProviderRequest,
            completionHandler: @escaping (URL?, (any NSFileProviderItemProtocol)?, (any Error)?) -> Void
        ) -> Progress {
            // The system calls an extension from any thread, side by side, and takes the one answer on any.
            nonisolated(unsafe) let (own, answer) = (self, completionHandler)
            return Self.work {
                do {
                    let item = try await own.listed(itemIdentifier)
                    let (stored, copy) = (try await own.storedFile(for: itemIdentifier), try own.newCopy())
                    try await own.protection().files.provide(stored, of: item.owner, toCopy: copy)
                    answer(copy, item, nil)
                } catch { answer(nil, nil, ProviderRefusal.told(error)) }
            }
        }

        /// Takes a new item in.
        public func createItem(
            basedOn itemTemplate: any NSFileProviderItemProtocol, fields: NSFileProviderItemFields, contents url: URL?,
            options: NSFileProviderCreateItemOptions, request: NSFileProviderRequest,
            completionHandler:
                @escaping ((any NSFileProviderItemProtocol)?, NSFileProviderItemFields, Bool, (any Error)?) -> Void
        ) -> Progress {
            // The system calls an extension from any thread, side by side, and takes the one answer on any.
            nonisolated(unsafe) let (own, item, answer) = (self, itemTemplate, completionHandler)
            return Self.work {
                do {
                    answer(try await own.takeIn(item, fields, url, isNew: true), [], false, nil)
                } catch { answer(nil, [], false, ProviderRefusal.told(error)) }
            }
        }

        /// Takes an item's changes in; one that is moved to another owner's container is refused.
        public func modifyItem(
            _ item: any NSFileProviderItemProtocol, baseVersion version: NSFileProviderItemVersion,
            changedFields: NSFileProviderItemFields, contents newContents: URL?,
            options: NSFileProviderModifyItemOptions, request: NSFileProviderRequest,
            completionHandler:
                @escaping ((any NSFileProviderItemProtocol)?, NSFileProviderItemFields, Bool, (any Error)?) -> Void
        ) -> Progress {
            // The system calls an extension from any thread, side by side, and takes the one answer on any.
            nonisolated(unsafe) let (own, item, answer) = (self, item, completionHandler)
            return Self.work {
                do {
                    answer(try await own.takeIn(item, changedFields, newContents, isNew: false), [], false, nil)
                } catch { answer(nil, [], false, ProviderRefusal.told(error)) }
            }
        }

        /// Removes an item for good.
        public func deleteItem(
            identifier: NSFileProviderItemIdentifier, baseVersion version: NSFileProviderItemVersion,
            options: NSFileProviderDeleteItemOptions, request: NSFileProviderRequest,
            completionHandler: @escaping ((any Error)?) -> Void
        ) -> Progress {
            // The system calls an extension from any thread, side by side, and takes the one answer on any.
            nonisolated(unsafe) let (own, answer) = (self, completionHandler)
            return Self.work {
                do {
                    _ = try await own.listed(identifier)
                    try await own.remove(identifier)
                    answer(nil)
                } catch { answer(ProviderRefusal.told(error)) }
            }
        }

        private static var missing: ProtectionError { ProtectionError(.outletFailed, "the file provider has no files") }

        private func listed(_ identifier: NSFileProviderItemIdentifier) async throws -> any OwnedProviderItem {
            let item = try await storedItem(for: identifier)
            try ProviderRefusal.requireListing(of: item.owner, by: await protection())
            return item
        }

        private func newCopy() throws -> URL { try copiesFolder().appending(path: UUID().uuidString) }

        private func takeIn(
            _ item: any NSFileProviderItemProtocol, _ fields: NSFileProviderItemFields, _ contents: URL?, isNew: Bool
        ) async throws -> any OwnedProviderItem {
            let protection = try await protection()
            let owner = try owner(ofContainer: item.parentItemIdentifier)
            try ProviderRefusal.requireListing(of: owner, by: protection)
            if !isNew, !IdentityContext.areSame(try await listed(item.itemIdentifier).owner, owner) {
                throw ProtectionError(.noPermit, "the item belongs to another account than the folder")
            }
            guard let contents else { return try await keep(item, fields: fields, contents: nil, owner: owner) }
            let copy = try newCopy()
            defer { try? FileManager.default.removeItem(at: copy) }
            let taken = try await protection.files.takeProvided(contents, for: owner, toCopy: copy)
            return try await keep(item, fields: fields, contents: copy, owner: taken)
        }

        private static func work(_ act: @escaping @Sendable () async -> Void) -> Progress {
            let progress = Progress(totalUnitCount: 1)
            Task {
                await act()
                progress.completedUnitCount = 1
            }
            return progress
        }
    }
#endif

public import CordonIdentity
public import CordonPolicy
public import Foundation

/// One call for each way out: it asks, uses the permit at once, asks again if the rules changed in between, and throws one error.
///
/// ```swift
/// do { try await protection.outlets.print(report, title: "Report", of: owner, on: printer) }
/// catch { show(error.denial?.summary ?? error.reason) }
/// ```
/// To show a warning first, ask for the permit and call the overload that takes it.
extension EgressOutlets {
    /// How often it is asked and acted at most.
    private static let mostAttempts = 4

    /// Copies text, if the rules allow it.
    ///
    /// - Returns: The decision; its reasons say what was allowed with a warning.
    /// - Throws: ``ProtectionError``: `denied` with ``ProtectionError/denial``, and what
    ///   ``copy(_:of:to:permit:)`` throws.
    @discardableResult
    public func copy(
        _ text: String, of owner: Identity, to clipboard: some Clipboard
    ) async throws(ProtectionError) -> PolicyDecision {
        try await Self.withFreshPermit { () async throws(ProtectionError) in
            let permit = try copyPermit(for: text, of: owner)
            let decision = permit.decision
            try await copy(text, of: owner, to: clipboard, permit: permit)
            return decision
        }
    }

    /// Prints a document, if the rules allow it.
    ///
    /// - Returns: The decision; its reasons say what was allowed with a warning.
    /// - Throws: ``ProtectionError``: `denied` with ``ProtectionError/denial``, and what
    ///   ``print(_:title:of:on:permit:)`` throws.
    @discardableResult
    public func print(
        _ document: Data, title: String, of owner: Identity, on printer: some Printer
    ) async throws(ProtectionError) -> PolicyDecision {
        try await Self.withFreshPermit { () async throws(ProtectionError) in
            let permit = try rules.permit(for: .may(.print, of: owner))
            let decision = permit.decision
            try await print(document, title: title, of: owner, on: printer, permit: permit)
            return decision
        }
    }

    /// Saves a plain copy to a place outside the app, if the rules allow it.
    ///
    /// - Parameters:
    ///   - contents: What to save, in the clear.
    ///   - name: The copy's name.
    ///   - owner: Whose data it is.
    ///   - place: Where the copy goes.
    ///   - location: The kind of place.
    ///   - account: The place's owner; nil when unknown.
    /// - Returns: The decision; its reasons say what was allowed with a warning.
    /// - Throws: ``ProtectionError``: `denied` with ``ProtectionError/denial``, and what
    ///   ``save(_:named:of:to:permit:)`` throws.
    @discardableResult
    public func save(
        _ contents: Data, named name: String, of owner: Identity, to place: some SavePlace, at location: Location,
        account: AccountID? = nil
    ) async throws(ProtectionError) -> PolicyDecision {
        try await Self.withFreshPermit { () async throws(ProtectionError) in
            let permit = try rules.permit(for: .save(to: location, account: account, of: owner))
            let decision = permit.decision
            try await save(contents, named: name, of: owner, to: place, permit: permit)
            return decision
        }
    }

    /// Hands an item to another app, if the rules allow it.
    ///
    /// - Parameters:
    ///   - contents: The item, in the clear.
    ///   - name: The item's name.
    ///   - owner: Whose data it is.
    ///   - app: What hands the item over.
    ///   - peer: The app, and the account in it.
    /// - Returns: The decision; its reasons say what was allowed with a warning.
    /// - Throws: ``ProtectionError``: `denied` with ``ProtectionError/denial``, and what
    ///   ``send(_:named:of:to:permit:)`` throws.
    @discardableResult
    public func send(
        _ contents: Data, named name: String, of owner: Identity, to app: some ReceivingApp, as peer: Peer
    ) async throws(ProtectionError) -> PolicyDecision {
        try await Self.withFreshPermit { () async throws(ProtectionError) in
            let permit = try rules.permit(for: .send(to: peer, of: owner))
            let decision = permit.decision
            try await send(contents, named: name, of: owner, to: app, permit: permit)
            return decision
        }
    }

    /// Hands an item, sealed, to a managed app of the same account, if the rules allow it.
    ///
    /// - Returns: The decision; its reasons say what was allowed with a warning.
    /// - Throws: ``ProtectionError``: `denied` with ``ProtectionError/denial``, and what
    ///   ``openIn(_:named:of:by:permit:)`` throws.
    @discardableResult
    public func openIn(
        _ contents: Data, named name: String, of owner: Identity, by app: some ReceivingApp
    ) async throws(ProtectionError) -> PolicyDecision {
        try await Self.withFreshPermit { () async throws(ProtectionError) in
            let permit = try openInPermit(of: owner)
            let decision = permit.decision
            try await openIn(contents, named: name, of: owner, by: app, permit: permit)
            return decision
        }
    }

    /// Opens a link, or the address that the rules put in its place, if the rules allow it.
    ///
    /// - Returns: The address that was opened.
    /// - Throws: ``ProtectionError``: `denied` with ``ProtectionError/denial``, and what
    ///   ``openLink(_:of:with:permit:)`` throws.
    @discardableResult
    public nonisolated func openLink(
        _ link: URL, of owner: Identity, with opener: some LinkOpener, isUniversal: Bool = false
    ) async throws(ProtectionError) -> URL {
        try await Self.withFreshPermit { () async throws(ProtectionError) in
            let permit = try linkPermit(for: link, of: owner, isUniversal: isUniversal)
            return try await openLink(link, of: owner, with: opener, permit: permit)
        }
    }

    /// Asks and acts, and again where the rules change, or the gate is closed, between the answer and its use.
    static func withFreshPermit<Value>(
        isolation: isolated (any Actor)? = #isolation, _ attempt: () async throws(ProtectionError) -> Value
    ) async throws(ProtectionError) -> Value {
        for _ in 0..<Self.mostAttempts {
            do { return try await attempt() } catch { if error.code != .permitOutdated { throw error } }
        }
        throw ProtectionError(.permitOutdated, "the rules changed each time before the permit could be used")
    }
}

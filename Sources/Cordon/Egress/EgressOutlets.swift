internal import CordonBase
public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonVault
public import Foundation

/// The ways out that Cordon offers, and the ways in. Every way out consumes a permit; none works without one.
///
/// Use it as ``AppProtection/outlets``. The calls without a permit ask for one themselves:
///
/// ```swift
/// try await protection.outlets.copy(text, of: .managed(account), to: clipboard)
/// ```
public actor EgressOutlets {
    let context: ProtectionContext
    let rules: EnforcedRules
    let group: SharedGroup
    let files: AccountFiles
    let screens: InterfaceScreens

    /// The executor that all parts of the protection share.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }

    init(
        _ context: ProtectionContext, rules: EnforcedRules, group: SharedGroup, files: AccountFiles,
        screens: InterfaceScreens
    ) {
        self.context = context
        self.rules = rules
        self.group = group
        self.files = files
        self.screens = screens
    }

    /// Asks whether text may be copied: for every app if the rules allow that, else for the apps of the same account.
    ///
    /// - Throws: ``ProtectionError``: `denied` with the reasons of the narrower question.
    public nonisolated func copyPermit(for text: String, of owner: Identity) throws(ProtectionError) -> EgressPermit {
        var question = Question(.copy, owner: EffectiveIdentity(owner))
        question.characters = text.count
        question.peer = .unmanagedApp
        guard case .managed(let account) = owner, !rules.verdict(for: question).permits else {
            return try rules.permit(for: question)
        }
        question.peer = .managed(account)
        return try rules.permit(for: question)
    }

    /// Puts text on a clipboard: readable by every app if the permit is for an unmanaged or an exempt one, else sealed
    /// for the apps that hold the owner's key.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, also where the permit is not for a text of this length,
    ///   `permitOutdated`, `vault`, or `outletFailed`.
    public func copy(
        _ text: String, of owner: Identity, to clipboard: some Clipboard, permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        let account = context.accounts.resolved(EffectiveIdentity(owner)).account
        var question = try rules.spend(permit, for: .copy, of: account)
        // The permit may have been asked for another text, or for one of unknown length.
        question.characters = text.count
        guard isFree(rules.verdict(for: question)) else {
            throw ProtectionError(.noPermit, "the permit is not for a text of this length")
        }
        var item = ClipboardItem(owner: account, text: text, sealed: nil)
        if let account {
            let isForAll = question.peer.map { $0.app != .managed } ?? false
            if isForAll {
                // A seal beside the plain text proves to the owner's own apps where it is from; nothing depends on it.
                item.sealed = try? await seal(Data(text.utf8), for: account)
            } else {
                (item.text, item.sealed) = (nil, try await seal(Data(text.utf8), for: account))
            }
        }
        do { try await clipboard.write(item) } catch { throw outletFailed("the clipboard") }
    }

    /// Takes text from a clipboard for an identity, if the rules of both sides let it in.
    ///
    /// Any app can write to a clipboard, so only a seal proves that a text is an organisation's: Cordon then asks the rules of the account
    /// that it was sealed for, whose gate must be open. Text without a seal that opens here counts as coming from an
    /// unmanaged app, whichever account it claims, and must also meet the rules of that account.
    ///
    /// - Throws: ``ProtectionError``: `denied` with the verdict's reasons, `outletFailed`, `nothingThere`, `damagedContent` or
    ///   `vault`.
    public func paste(from clipboard: some Clipboard, for receiver: Identity) async throws -> String {
        let item: ClipboardItem?
        do { item = try await clipboard.read() } catch {
            throw ProtectionError(.outletFailed, "the clipboard cannot be read")
        }
        guard let item else { throw ProtectionError(.nothingThere, "the clipboard is empty") }
        if item.owner != nil || receiver != .personal || item.sealed != nil {
            rules.reportingLostWork(IdentityContext.current)
        }
        if let sealed = item.sealed {
            do {
                return try await unsealed(sealed, labelled: item.owner, for: receiver)
            } catch is ProtectionError where item.text != nil {
                // The seal proves nothing here; the text is taken as any other plain one.
            }
        }
        guard let text = item.text else {
            throw ProtectionError(.damagedContent, "the clipboard's item is neither plain nor sealed")
        }
        try admit(text.count, from: .unmanagedApp, for: receiver)
        if let claimed = item.owner { try admit(text.count, from: .managed(claimed), for: receiver) }
        return text
    }

    private func unsealed(
        _ sealed: Data, labelled label: AccountID?, for receiver: Identity
    ) async throws -> String {
        guard let owner = context.vault.owner(ofBuffer: sealed), label == nil || label == owner else {
            throw ProtectionError(.damagedContent, "the clipboard's item is not what it says it is")
        }
        // Asked before anything is opened, and again when it is known how long the text is.
        try admit(nil, from: .managed(owner), for: receiver)
        let gate = Question(.copy, owner: .managed(owner))
        try rules.requireOpenGate(for: gate)
        let text: String
        do {
            text = String(decoding: try await context.vault.unseal(sealed, of: owner), as: UTF8.self)
        } catch { throw ProtectionError(error) }
        try rules.requireOpenGate(for: gate)
        try admit(text.count, from: .managed(owner), for: receiver)
        return text
    }

    /// Throws the denial where the rules of either side do not let a text in; the length is nil while it is not known.
    private nonisolated func admit(_ characters: Int?, from sender: Peer, for receiver: Identity)
        throws(ProtectionError)
    {
        var question = Question(.paste, owner: EffectiveIdentity(receiver))
        question.peer = sender
        question.characters = characters
        let refusal = rules.refusal(of: question) { characters == nil ? $0.permits : isFree($0) }
        if let refusal { throw ProtectionError(denied: refusal) }
    }

    /// Whether a text may go as it is: nothing here shortens it to what a verdict restricts it to.
    private nonisolated func isFree(_ verdict: Verdict) -> Bool { [.allow, .warn].contains(verdict) }

    /// Prints a document.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, `permitOutdated`, or `outletFailed`.
    public func print(
        _ document: Data, title: String, of owner: Identity, on printer: some Printer, permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        _ = try rules.spend(permit, for: .print, of: EffectiveIdentity(owner).account)
        do { try await printer.print(document, title: title) } catch { throw outletFailed("the printer") }
    }

    /// Saves a plain copy to a place outside the app; the permit's question names the place.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, `permitOutdated`, `outletFailed`, or the one that the place itself throws.
    public func save(
        _ contents: Data, named name: String, of owner: Identity, to place: some SavePlace,
        permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        _ = try rules.spend(permit, for: .saveTo, of: EffectiveIdentity(owner).account)
        do { try await place.save(contents, named: name) } catch {
            throw error as? ProtectionError ?? outletFailed("the place to save to")
        }
    }

    /// Hands an item to another app; the permit's question names the app and its account.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, `permitOutdated`, or `outletFailed`.
    public func send(
        _ contents: Data, named name: String, of owner: Identity, to app: some ReceivingApp,
        permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        let account = context.accounts.resolved(EffectiveIdentity(owner)).account
        _ = try rules.spend(permit, for: .send, of: account)
        let item = SharedItem(
            owner: account, senderBundleID: context.configuration.application.bundleID, name: name, contents: contents)
        do { try await app.deliver(item) } catch { throw outletFailed("the receiving app") }
    }

    private func seal(_ bytes: Data, for account: AccountID) async throws(ProtectionError) -> Data {
        do { return try await context.vault.protect(bytes, for: account) } catch {
            throw ProtectionError(error)
        }
    }

    private nonisolated func outletFailed(_ outlet: String) -> ProtectionError {
        ProtectionError(.outletFailed, "\(outlet) did not take it")
    }
}

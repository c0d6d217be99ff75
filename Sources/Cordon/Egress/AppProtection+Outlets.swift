public import CordonIdentity
internal import CordonPolicy
internal import CordonProtocol
internal import CordonVault
public import Foundation

/// The ways out that Cordon offers. Each consumes a permit; none works without.
extension AppProtection {
    /// Asks whether text may be copied: for every app where the rules allow it, else for the apps of the same account.
    ///
    /// - Throws: ``EgressDenied`` with the reasons of the narrower question.
    public nonisolated func copyPermit(for text: String, of owner: Identity) throws(EgressDenied) -> EgressPermit {
        var question = Question(.copy, owner: EffectiveIdentity(owner))
        question.characters = text.count
        question.peer = .unmanagedApp
        guard case .managed(let account) = owner, !decision(for: question).verdict.permits else {
            return try permit(for: question)
        }
        question.peer = .managed(account)
        return try permit(for: question)
    }

    /// Puts text on a clipboard: readable by every app where the permit is for an unmanaged one, else sealed for the apps
    /// that hold the owner's key.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, `permitOutdated`, `vault`, or `outletFailed`.
    public func copy(
        _ text: String, of owner: Identity, to clipboard: some Clipboard, permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        let account = EffectiveIdentity(owner).account
        let question = try spend(permit, for: .copy, of: account)
        var item = ClipboardItem(owner: account, text: text, sealed: nil)
        if let account, question.peer == .managed(account) {
            item = ClipboardItem(owner: account, text: nil, sealed: try await seal(Data(text.utf8), for: account))
        }
        do { try await clipboard.write(item) } catch { throw outletFailed("the clipboard") }
    }

    /// Takes text from a clipboard for somebody, if the rules of both sides let it in.
    ///
    /// - Throws: ``PasteFailure`` with the verdict's reasons, or with what went wrong.
    public func paste(from clipboard: some Clipboard, for receiver: Identity) async throws(PasteFailure) -> String {
        let item: ClipboardItem?
        do { item = try await clipboard.read() } catch { throw .failed(outletFailed("the clipboard")) }
        guard let item else { throw .failed(ProtectionError(.nothingThere, "the clipboard is empty")) }
        if item.owner != nil || receiver != .personal { noted(IdentityContext.current) }
        var question = Question(.paste, owner: EffectiveIdentity(receiver))
        question.peer = item.owner.map { .managed($0) } ?? .personal
        question.characters = item.text?.count
        let decision = decision(for: question)
        guard decision.verdict.permits else { throw .denied(EgressDenied(decision)) }
        if let text = item.text { return text }
        guard let owner = item.owner, let sealed = item.sealed else {
            throw .failed(ProtectionError(.damagedContent, "the clipboard's item is neither plain nor sealed"))
        }
        do throws(ProtectionError) {
            return String(decoding: try await unseal(sealed, of: owner), as: UTF8.self)
        } catch { throw .failed(error) }
    }

    /// Prints a document.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, `permitOutdated`, or `outletFailed`.
    public func print(
        _ document: Data, title: String, of owner: Identity, on printer: some Printer, permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        _ = try spend(permit, for: .print, of: EffectiveIdentity(owner).account)
        do { try await printer.print(document, title: title) } catch { throw outletFailed("the printer") }
    }

    /// Saves a plain copy to a place outside the app; the permit's question names the place.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, `permitOutdated`, or `outletFailed`.
    public func save(
        _ contents: Data, named name: String, of owner: Identity, to place: some SavePlace,
        permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        _ = try spend(permit, for: .saveTo, of: EffectiveIdentity(owner).account)
        do { try await place.save(contents, named: name) } catch { throw outletFailed("the place to save to") }
    }

    /// Hands a thing to another app; the permit's question names the app and its account.
    ///
    /// - Throws: ``ProtectionError``: `noPermit`, `permitOutdated`, or `outletFailed`.
    public func send(
        _ contents: Data, named name: String, of owner: Identity, to app: some ReceivingApp,
        permit: consuming EgressPermit
    ) async throws(ProtectionError) {
        let account = EffectiveIdentity(owner).account
        _ = try spend(permit, for: .send, of: account)
        let item = SharedItem(
            owner: account, senderBundleID: configuration.application.bundleID, name: name, contents: contents)
        do { try await app.deliver(item) } catch { throw outletFailed("the receiving app") }
    }

    private func seal(_ bytes: Data, for account: AccountID) async throws(ProtectionError) -> Data {
        do throws(VaultError) { return try await vault.protect(bytes, for: account) } catch {
            throw ProtectionError(error)
        }
    }

    private func unseal(_ bytes: Data, of owner: AccountID) async throws(ProtectionError) -> Data {
        do throws(VaultError) { return try await vault.unprotect(bytes) } catch { throw ProtectionError(error) }
    }

    private nonisolated func outletFailed(_ outlet: String) -> ProtectionError {
        ProtectionError(.outletFailed, "\(outlet) took nothing")
    }
}

/// Why nothing was pasted.
public enum PasteFailure: Error, Sendable, Equatable {
    /// The rules do not let it in.
    case denied(EgressDenied)
    /// The rules do, but something went wrong.
    case failed(ProtectionError)
}

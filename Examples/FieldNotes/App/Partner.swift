import Cordon
import CordonIdentity
import CordonPolicy
import Foundation

/// What an app says of itself beside its inbox, so that others know whom they hand things to.
///
/// On a device the system vouches for it; between folders there is only the note, which proves nothing. An app whose partners share a
/// `SharingGroup` hands an organisation's data over sealed, with `outlets.openIn` and `outlets.take`.
struct Partner: Codable {
    /// The name of the note.
    static let fileName = "partner.json"

    /// The app.
    var bundleID: String?
    /// The organisation's accounts in it.
    var accounts: [AccountID] = []

    /// The app behind an inbox; one without a note is any app.
    static func reading(_ inbox: URL) -> Partner {
        let note = inbox.deletingLastPathComponent().appending(path: fileName)
        guard note.isRegularFile else { return Partner() }
        return (try? JSONDecoder().decode(Partner.self, from: Data(contentsOf: note))) ?? Partner()
    }

    /// The other side of a hand-over of an account's data.
    func peer(for owner: Identity) -> Peer {
        guard bundleID != nil else { return .unmanagedApp }
        if case .managed(let account) = owner, accounts.contains(account) { return .managed(account) }
        return accounts.first.map { .managed($0) } ?? .personal
    }
}

extension SharedItem {
    /// The other side, for the side that takes it in.
    var peer: Peer {
        if let owner { return .managed(owner) }
        return senderBundleID == "unmanaged" ? .unmanagedApp : .personal
    }
}

extension NotesApp {
    /// Tells other apps whose data this app takes; an account whose data it no longer has is not named.
    func announceAccounts() async throws {
        guard let protection else { return }
        let partner = Partner(bundleID: "fieldnotes", accounts: protection.enrolledAccounts.map(\.id))
        try JSONEncoder().encode(partner).write(to: home.appending(path: Partner.fileName), options: .atomic)
    }
}

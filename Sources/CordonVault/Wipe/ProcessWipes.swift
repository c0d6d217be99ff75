internal import CordonIdentity

/// The wipes that this process carries out, and the steps that others have attached to every wipe.
struct ProcessWipes {
    private let journals: WipeJournals
    private var underWay: Set<AccountID> = []
    private(set) var attachments: [WipeAttachment] = []

    init(_ journals: WipeJournals) { self.journals = journals }

    /// Whether a wipe of the account is under way in this process.
    func isUnderWay(_ account: AccountID) -> Bool { underWay.contains(account) }

    /// Whether a wipe of the account is under way in this process, or a journal says that one has begun.
    func isUnfinished(_ account: AccountID) -> Bool { isUnderWay(account) || journals.exists(for: account) }

    /// Begins a wipe; false where one of the account is under way.
    mutating func begin(_ account: AccountID) -> Bool { underWay.insert(account).inserted }

    /// Ends ``begin(_:)``.
    mutating func end(_ account: AccountID) { underWay.remove(account) }

    /// Adds a step, in place of one of the same name.
    mutating func attach(_ attachment: WipeAttachment) {
        attachments.removeAll { $0.name == attachment.name }
        attachments.append(attachment)
    }

    /// What the step of a name does; nil where none is attached.
    func action(of name: String) -> WipeAttachment.Action? { attachments.first { $0.name == name }?.action }
}

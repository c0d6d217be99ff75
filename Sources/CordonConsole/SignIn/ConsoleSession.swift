import Foundation

/// The session of a person who is signed in to the console.
struct ConsoleSession: Codable, Sendable, Equatable {
    /// What was filled in and sent, and has not taken effect: previewed, refused, waiting for a second administrator, or for a sign-in.
    struct Draft: Codable, Sendable, Equatable {
        /// The page to which it belongs, with its query where that says which of several forms it is.
        var path: String
        var values: [String: [String]]
        /// The id of the change that waits for a second administrator because of it; nil for other forms.
        var change: String?

        fileprivate var size: Int {
            values.reduce(0) { sum, field in field.value.reduce(sum + field.key.utf8.count) { $0 + $1.utf8.count } }
        }

        /// Whether it belongs to a page, which may be asked for without saying which of several forms is meant.
        func belongs(to page: String) -> Bool {
            let (own, asked) = (path.split(separator: "?", maxSplits: 1), page.split(separator: "?", maxSplits: 1))
            return own.first == asked.first && (own.count < 2 || asked.count < 2 || own[1] == asked[1])
        }
    }

    /// Who it is, by the object id.
    var person: String
    var token: String
    /// The secret key to which the token is bound; nil for a bearer token.
    var key: Data?
    /// The thumbprint of that key; nil in a session of an earlier version.
    var thumbprint: String?
    /// When the token ends.
    var ends: Date
    /// What forms carry to show that they are of this session.
    var csrf: String
    /// The newest form that is kept.
    private(set) var draft: Draft?
    /// Those that were kept before it for other pages, newest first; nil in a session of an earlier version.
    private(set) var earlier: [Draft]?
    /// The language that the person chose; nil for what the browser asks for.
    var language: String?

    /// The most forms of one session that are kept.
    private static let mostDrafts = 4

    /// The forms that are kept, newest first, one for each page.
    private(set) var drafts: [Draft] {
        get { [draft].compactMap(\.self) + (earlier ?? []) }
        set { (draft, earlier) = (newValue.first, Array(newValue.dropFirst())) }
    }

    /// Keeps a form in place of the one of its page, and as few bytes of all as one form may have: every request reads them.
    mutating func keep(_ draft: Draft) {
        var kept = [draft] + drafts.filter { $0.path != draft.path }
        while kept.count > 1, kept.count > Self.mostDrafts || kept.reduce(0, { $0 + $1.size }) > ConsoleForm.largest {
            // Releasing a change may take days, and without its form it cannot be used.
            kept.remove(at: kept.dropFirst().lastIndex { $0.change == nil } ?? kept.count - 1)
        }
        drafts = kept
    }

    mutating func keepDrafts(of other: ConsoleSession) { drafts = other.drafts }

    mutating func forgetDraft(of path: String) { drafts.removeAll { $0.path == path } }
}

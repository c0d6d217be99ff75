import Foundation

/// The session of a person who is signed in to the console.
struct ConsoleSession: Codable, Sendable, Equatable {
    /// What was filled in when the session ended, or a fresh sign-in was asked for.
    struct Draft: Codable, Sendable, Equatable {
        /// The page to which it belongs.
        var path: String
        var values: [String: [String]]
        /// The id of the change that waits for a second administrator because of it; nil for other forms.
        var change: String?
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
    var draft: Draft?
    /// What was filled in before that on other pages, newest first; nil in a session of an earlier version.
    var earlier: [Draft]?
    /// The language that the person chose; nil for what the browser asks for.
    var language: String?

    /// The most forms of one session that are kept.
    private static let mostDrafts = 4

    /// What was filled in and not sent, newest first, a form for each page.
    private(set) var drafts: [Draft] {
        get { [draft].compactMap(\.self) + (earlier ?? []) }
        set { (draft, earlier) = (newValue.first, Array(newValue.dropFirst().prefix(Self.mostDrafts - 1))) }
    }

    mutating func keep(_ draft: Draft) { drafts = [draft] + drafts.filter { $0.path != draft.path } }

    mutating func forgetDraft(of path: String) { drafts.removeAll { $0.path == path } }
}

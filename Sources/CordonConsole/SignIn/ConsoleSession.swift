import Foundation

/// The session of a person who is signed in to the console.
struct ConsoleSession: Codable, Sendable, Equatable {
    /// What was filled in when the session ended, or a fresh sign-in was asked for.
    struct Draft: Codable, Sendable, Equatable {
        /// The page to which it belongs.
        var path: String
        var values: [String: [String]]
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
    /// The language that the person chose; nil for what the browser asks for.
    var language: String?
}

/// Why a text from outside, JSON or signed, was not taken.
package struct TextFlaw: Error, Equatable {
    /// What kind of flaw it is; the order is that of the checks.
    package enum Kind: Sendable, CaseIterable {
        /// It has more bytes, or deeper nesting, than is allowed.
        case tooLarge
        /// It is not of the form that is read: no JSON, not three base64url parts, or a member is given twice.
        case malformed
        /// Its algorithm is not one of its profile's.
        case algorithm
        /// It is of another type.
        case type
        /// It has critical extensions.
        case critical
        /// It does not name its key as its profile asks.
        case key
        /// It was not signed with the key.
        case signature
        /// Its payload lacks a claim, or has one of the wrong kind.
        case claims
    }

    /// What kind of flaw it is.
    package let kind: Kind
    /// What is wrong, with nothing of the text but a member's name; empty where the kind says it all.
    package let reason: String
    /// Line and column in JSON text; empty for a signed text.
    package let place: String

    /// States a flaw.
    package init(_ kind: Kind, _ reason: String = "", at place: String = "") {
        self.kind = kind
        self.reason = reason
        self.place = place
    }
}

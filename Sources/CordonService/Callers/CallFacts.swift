/// What one call of an administrator brings along beside who they are: what the audit log says of it, and what it proves.
public struct CallFacts: Sendable, Hashable {
    /// The request's id, as its answer and the service's log name it; nil where there is none.
    public var requestID: String?
    /// The program that the token was issued to.
    public var client: String?
    /// Why the change is made, in the administrator's own words.
    public var reason: String?
    /// Whether the person signed in a short while ago, so that a stolen session does not suffice. A program cannot sign in afresh.
    public var hasFreshSignIn: Bool
    /// The token of the impact that the administrator was shown, nil where none was asked for.
    public var impactToken: String?
    /// Whether an assignment to a group that does not exist yet is kept, to reach people once the group comes; refused otherwise.
    public var keepsUnknownGroups = false
    /// Whether a program makes the call. The audit log calls both administrators, as it always did, and says this besides.
    var isOfProgram = false

    /// Facts of a call that proves nothing.
    public init(
        requestID: String? = nil, client: String? = nil, reason: String? = nil, hasFreshSignIn: Bool = false,
        impactToken: String? = nil
    ) {
        self.requestID = requestID
        self.client = client
        self.reason = reason
        self.hasFreshSignIn = hasFreshSignIn
        self.impactToken = impactToken
    }

    /// The longest reason, in bytes.
    static let longestReason = 1_000

    /// What the audit log says of the call.
    var details: [String: String] {
        var details: [String: String] = [:]
        details["request"] = requestID
        details["client"] = client
        details["reason"] = reason
        if isOfProgram { details["program"] = "true" }
        return details
    }

    /// Refuses a reason that could not be shown as it is.
    ///
    /// - Throws: ``ServiceError`` with code `invalid`.
    public func check() throws(ServiceError) {
        guard let reason else { return }
        let isLong = reason.utf8.count > Self.longestReason
        let flaw = isLong ? "has more than \(Self.longestReason) bytes" : ShownText.flaw(of: reason, isName: false)
        guard let flaw else { return }
        throw ServiceError(
            .invalid, "the reason is not acceptable", problems: [.init(member: "reason", reason: flaw)])
    }
}

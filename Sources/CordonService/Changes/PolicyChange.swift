public import CordonPolicy

/// A change of one policy as a caller asks for it.
public enum PolicyChange: Sendable {
    /// A new one, from a Graph document.
    case create(PolicyKind, JSONValue)
    /// Members to merge into one.
    case update(String, JSONValue)
    /// Everything that one says, whom it reaches included.
    case replace(String, JSONValue)
    /// Whom one reaches.
    case assign(String, [PolicyAssignment])
    /// The apps that one is about; nil leaves the set as it is.
    case targetApps(String, [MobileAppIdentifier], AppGroup?)
    /// Its end.
    case delete(String)

    /// What the audit log calls the call.
    var call: String {
        switch self {
        case .create: "createPolicy"
        case .update: "updatePolicy"
        case .replace: "putBackPolicy"
        case .assign: "assignPolicy"
        case .targetApps: "targetApps"
        case .delete: "deletePolicy"
        }
    }
}

/// A change whose document was read and whose author may write policies.
struct PreparedChange: Sendable {
    /// The policy, nil for a new one.
    let id: String?
    /// What the audit log calls what is done, and the call where it is refused.
    let action: String
    let call: String
    /// What its author must be allowed to do with the policy.
    let needed: [Permission]
    /// The policy after, nil for its end.
    ///
    /// - Throws: ``ServiceError`` where it cannot be meant.
    let make: @Sendable (ManagedAppPolicy?) throws -> ManagedAppPolicy?
}

/// The answer in one word, from the mildest to the gravest.
public enum Verdict: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    /// It may be done.
    case allow
    /// It may be done in a reduced form that the reason names.
    case restrict
    /// It may be done after a notice.
    case warn
    /// It may not be done.
    case block
    /// It may not be done, and the account's data is to be removed.
    case wipe

    @usableFromInline
    var gravity: UInt8 {
        switch self {
        case .allow: 0
        case .restrict: 1
        case .warn: 2
        case .block: 3
        case .wipe: 4
        }
    }

    /// Whether the left verdict is milder.
    @inlinable
    public static func < (left: Verdict, right: Verdict) -> Bool { left.gravity < right.gravity }

    /// Whether something may go on: neither `block` nor `wipe`.
    @inlinable
    public var permits: Bool { self < .block }
}

/// Which policy, in which version.
public struct PolicyReference: Codable, Sendable, Hashable {
    /// The policy's id.
    public let id: String
    /// Its version.
    public let version: String

    /// Names a policy.
    public init(id: String, version: String) {
        self.id = id
        self.version = version
    }
}

/// Why a verdict is not a plain "allow": rule, setting, value, policy, and what to do.
public struct PolicyReason: Codable, Sendable, Equatable {
    /// The rule, for example `transfer.save-as`; see ``Rule``.
    public let rule: String
    /// The setting's JSON name; empty when no setting is involved.
    public let setting: String
    /// The setting's value.
    public let value: JSONValue
    /// The policy that the value comes from; nil when none is known.
    public let policy: PolicyReference?
    /// What to tell the person.
    public let message: String
    /// What would be allowed, or who can help.
    public let remedy: String
    /// What this reason alone would lead to; not part of the JSON.
    public let verdict: Verdict

    private enum CodingKeys: String, CodingKey { case rule, setting, value, policy, message, remedy }

    /// Makes a reason.
    public init(
        rule: Rule, setting: String = "", value: JSONValue = .null, policy: PolicyReference? = nil, message: String,
        remedy: String, verdict: Verdict
    ) {
        self.rule = rule.rawValue
        self.setting = setting
        self.value = value
        self.policy = policy
        self.message = message
        self.remedy = remedy
        self.verdict = verdict
    }

    /// Reads the six members; a lone reason counts as a denial.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        rule = try container.decode(String.self, forKey: .rule)
        setting = try container.decode(String.self, forKey: .setting)
        value = try container.decodeIfPresent(JSONValue.self, forKey: .value) ?? .null
        policy = try container.decodeIfPresent(PolicyReference.self, forKey: .policy)
        message = try container.decode(String.self, forKey: .message)
        remedy = try container.decode(String.self, forKey: .remedy)
        verdict = .block
    }

    /// Writes the six members, none left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(rule, forKey: .rule)
        try container.encode(setting, forKey: .setting)
        try container.encode(value, forKey: .value)
        try container.encode(policy, forKey: .policy)
        try container.encode(message, forKey: .message)
        try container.encode(remedy, forKey: .remedy)
    }
}

/// A verdict with every reason for it.
public struct PolicyDecision: Sendable, Equatable, Codable {
    /// The answer.
    public let verdict: Verdict
    /// Every reason, the gravest first; empty for a plain "allow".
    public let reasons: [PolicyReason]
    /// The path that led here, for a developer; not part of the JSON.
    public let trace: PolicyTrace

    private enum CodingKeys: String, CodingKey { case verdict, reasons }

    /// Makes a decision; the verdict is the gravest of the reasons'.
    public init(reasons: [PolicyReason], trace: PolicyTrace = .empty) {
        self.verdict = reasons.map(\.verdict).max() ?? .allow
        self.reasons = reasons
        self.trace = trace
    }

    /// Reads verdict and reasons; the trace is empty.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        verdict = try container.decode(Verdict.self, forKey: .verdict)
        reasons = try container.decode([PolicyReason].self, forKey: .reasons)
        trace = PolicyTrace(steps: [])
    }

    /// The first reason's message and remedy, for an alert; empty for a plain "allow".
    public var summary: String {
        reasons.first.map { "\($0.message) \($0.remedy)" } ?? ""
    }
}

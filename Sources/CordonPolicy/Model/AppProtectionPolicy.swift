public import Foundation

/// One app-protection policy, as Microsoft Graph's `iosManagedAppProtection` and
/// `defaultManagedAppProtection` spell it (design decision 3).
///
/// Settings are grouped for their reader. What this version does not know is kept and written back.
/// An enumeration member that is not known counts as one that denies and is listed in ``notUnderstood``;
/// a property marked critical that is not known denies everything (``unknownCritical``).
public struct AppProtectionPolicy: Sendable, Equatable {
    /// The policy's key (`id`).
    public var id: String
    /// Changes with every write (`version`).
    public var version: String
    /// The administrator's name for it (`displayName`).
    public var displayName: String
    /// What a person must do before organisation data is shown.
    public var access = AccessRequirements()
    /// Where organisation data may come from and go to.
    public var transfer = DataTransferRules()
    /// What must hold of device, app and account.
    public var launch = ConditionalLaunch()
    /// How organisation data rests.
    public var storage = StorageRules()

    /// Settings whose value this version does not know; each counts as one that denies.
    public internal(set) var notUnderstood: Set<String> = []
    /// The values behind ``notUnderstood`` as they stand in the JSON, so that a reason names what the administrator wrote.
    var unknownValues: [String: JSONValue] = [:]
    /// Properties marked `"<name>@cordon.critical": true` that this version does not know: all is denied.
    public internal(set) var unknownCritical: Set<String> = []

    /// The members as they were read, so that writing changes only what was changed.
    var original: [String: JSONValue] = [:]

    /// A policy with the documented defaults.
    public init(id: String = "", version: String = "1", displayName: String = "") {
        self.id = id
        self.version = version
        self.displayName = displayName
    }

    /// Reads the Graph JSON of a policy.
    /// - Throws: ``PolicyError``: `wrongType`, `invalidValue` or `tooLarge`, with the property's name.
    public init(graphJSON: JSONValue) throws(PolicyError) {
        var problems: [PolicyError] = []
        self.init(graphJSON, problems: &problems)
        if let first = problems.first { throw first }
    }

    /// Reads what can be read, and notes the rest in the order of the settings.
    private init(_ graphJSON: JSONValue, problems: inout [PolicyError]) {
        self.init()
        guard case .object(let members) = graphJSON else {
            problems.append(PolicyError(.wrongType, "a policy is an object, not \(graphJSON.kind)", at: ""))
            return
        }
        original = members
        func text(_ name: String, _ usual: String) -> String {
            do {
                return try Self.text(name, in: members) ?? usual
            } catch {
                problems.append(error)
                return usual
            }
        }
        (id, version, displayName) = (text("id", id), text("version", version), text("displayName", displayName))
        for setting in Setting.all {
            guard let value = members[setting.name], value != .null else { continue }
            do {
                if try !setting.read(value, &self) {
                    notUnderstood.insert(setting.name)
                    unknownValues[setting.name] = value
                }
            } catch {
                problems.append(error.inside(setting.name))
            }
        }
        readCriticalMarks(in: members)
    }

    /// Everything in the Graph JSON of a policy that cannot be read, in the order of the settings.
    ///
    /// Empty exactly when ``init(graphJSON:)`` takes the JSON; that initialiser throws the first of these.
    public static func problems(in json: JSONValue) -> [PolicyError] {
        var problems: [PolicyError] = []
        _ = AppProtectionPolicy(json, problems: &problems)
        return problems
    }

    /// Reads the Graph JSON of a policy.
    /// - Throws: ``PolicyError`` as ``init(graphJSON:)``, and `malformedJSON`.
    public init(data: Data) throws(PolicyError) {
        try self.init(graphJSON: JSONValue(parsing: data))
    }

    /// The Graph JSON: what was read, with every changed setting replaced.
    ///
    /// A setting that was absent and still has its default stays absent.
    public var graphJSON: JSONValue {
        var members = original
        let before = (try? AppProtectionPolicy(graphJSON: .object(original))) ?? AppProtectionPolicy()
        for setting in Setting.all where !setting.same(before, self) {
            members[setting.name] = setting.write(self)
        }
        for (name, old, new) in [
            ("id", before.id, id), ("version", before.version, version),
            ("displayName", before.displayName, displayName),
        ] where old != new {
            members[name] = .string(new)
        }
        return .object(members)
    }

    /// Every setting with its value, defaults filled in, as a create request to the service would store it.
    public var completeGraphJSON: JSONValue {
        guard case .object(var members) = graphJSON else { return graphJSON }
        for setting in Setting.all where members[setting.name] == nil {
            members[setting.name] = setting.write(self)
        }
        for (name, value) in [("id", id), ("version", version), ("displayName", displayName)] where members[name] == nil
        {
            members[name] = .string(value)
        }
        return .object(members)
    }

    /// A member that no setting reads, as it stood in the JSON.
    public func otherProperty(_ name: String) -> JSONValue? {
        Setting.named(name) == nil ? original[name] : nil
    }

    /// The value that this version does not know and for which the setting's value stands; nil where it is known.
    func unknownValue(of setting: Setting) -> JSONValue? {
        guard let value = unknownValues[setting.name] else { return nil }
        var read = self
        guard (try? setting.read(value, &read)) != nil, setting.same(read, self) else { return nil }
        return value
    }

    /// What the name of a property ends with that says that another must be known.
    static let criticalMark = "@cordon.critical"

    private mutating func readCriticalMarks(in members: [String: JSONValue]) {
        for (name, value) in members where name.hasSuffix(Self.criticalMark) && value != .bool(false) {
            let property = String(name.dropLast(Self.criticalMark.count))
            if !Self.knownMembers.contains(property) && Setting.named(property) == nil {
                unknownCritical.insert(property)
            }
            if notUnderstood.contains(property) { unknownCritical.insert(property) }
        }
    }

    private static func text(_ name: String, in members: [String: JSONValue]) throws(PolicyError) -> String? {
        guard let value = members[name], value != .null else { return nil }
        guard let text = value.string else {
            throw PolicyError(.wrongType, "text is needed, not \(value.kind)", at: name)
        }
        guard text.utf8.count <= 4096 else { throw PolicyError(.tooLarge, "longer than 4096 bytes", at: name) }
        return text
    }
}

extension AppProtectionPolicy: Codable {
    /// Reads the Graph JSON.
    public init(from decoder: any Decoder) throws {
        try self.init(graphJSON: JSONValue(from: decoder))
    }

    /// Writes the Graph JSON.
    public func encode(to encoder: any Encoder) throws {
        try graphJSON.encode(to: encoder)
    }
}

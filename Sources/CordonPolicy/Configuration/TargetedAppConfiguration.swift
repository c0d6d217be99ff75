/// Key-values that an administrator assigns to an app, as Graph's `targetedManagedAppConfiguration`
/// spells them (SRV-RS-110…115, SDK-CF-01).
public struct TargetedAppConfiguration: Sendable, Equatable, Codable {
    /// The configuration's key (`id`).
    public var id: String
    /// Changes with every write (`version`).
    public var version: String
    /// The administrator's name for it (`displayName`).
    public var displayName: String
    /// The key-values (`customSettings`), each value as it was typed.
    public var values: [String: JSONValue]
    /// Whether these are the tenant-wide defaults (`__IsDefault`), which any targeted value outranks.
    public var isDefault: Bool

    private var original: [String: JSONValue] = [:]

    /// Makes a configuration.
    public init(
        id: String = "", version: String = "1", displayName: String = "", values: [String: JSONValue],
        isDefault: Bool = false
    ) {
        self.id = id
        self.version = version
        self.displayName = displayName
        self.values = values
        self.isDefault = isDefault
    }

    /// Reads the Graph JSON.
    /// - Throws: ``PolicyError``: `wrongType`, or `invalidValue` for a name given twice (SRV-RS-111).
    public init(graphJSON: JSONValue) throws(PolicyError) {
        guard case .object(let members) = graphJSON else {
            throw PolicyError(.wrongType, "a configuration is an object, not \(graphJSON.kind)", at: "")
        }
        self.init(
            id: members["id"]?.string ?? "", version: members["version"]?.string ?? "1",
            displayName: members["displayName"]?.string ?? "", values: [:],
            isDefault: members["@odata.type"]?.string?.hasSuffix("defaultManagedAppProtection") ?? false)
        original = members
        guard let pairs = members["customSettings"], pairs != .null else { return }
        guard let pairs = pairs.array else { throw PolicyError.wrong(pairs, needed: "a list").inside("customSettings") }
        for pair in pairs {
            guard let name = pair["name"]?.string, let value = pair["value"] else {
                throw PolicyError(.wrongType, "a setting has a name and a value", at: "customSettings")
            }
            if name == Self.defaultMark {
                isDefault = value == .bool(true) || value.string?.lowercased() == "true"
            } else if values.updateValue(value, forKey: name) != nil {
                throw PolicyError(.invalidValue, "\(name.prefix(80)) is given twice", at: "customSettings")
            }
        }
    }

    /// The Graph JSON, unknown members included.
    public var graphJSON: JSONValue {
        var members = original
        members["id"] = .string(id)
        members["version"] = .string(version)
        members["displayName"] = .string(displayName)
        members["customSettings"] = .array(
            values.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "value": $0.value] })
        return .object(members)
    }

    /// The dictionary as an app reads it; the tenant-wide one carries `__IsDefault` (SDK-CF-03).
    public var dictionary: [String: JSONValue] {
        isDefault ? values.merging([Self.defaultMark: true]) { _, mark in mark } : values
    }

    /// Reads the Graph JSON.
    public init(from decoder: any Decoder) throws {
        try self.init(graphJSON: JSONValue(from: decoder))
    }

    /// Writes the Graph JSON.
    public func encode(to encoder: any Encoder) throws {
        try graphJSON.encode(to: encoder)
    }

    static let defaultMark = "__IsDefault"
}

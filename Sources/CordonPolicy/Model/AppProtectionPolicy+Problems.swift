extension AppProtectionPolicy {
    /// Everything in the Graph JSON of a policy that cannot be read, in the order of the settings.
    ///
    /// Empty exactly when ``init(graphJSON:)`` takes the JSON; that initialiser throws the first of these.
    public static func problems(in json: JSONValue) -> [PolicyError] {
        guard case .object(let members) = json else {
            return [PolicyError(.wrongType, "a policy is an object, not \(json.kind)", at: "")]
        }
        var problems: [PolicyError] = []
        for name in textMembers {
            do {
                _ = try text(name, in: members)
            } catch {
                problems.append(error)
            }
        }
        var policy = AppProtectionPolicy()
        for setting in Setting.all {
            guard let value = members[setting.name], value != .null else { continue }
            do {
                _ = try setting.read(value, &policy)
            } catch {
                problems.append(error.inside(setting.name))
            }
        }
        return problems
    }

    /// Members that name a policy.
    private static let textMembers = ["id", "version", "displayName"]
}

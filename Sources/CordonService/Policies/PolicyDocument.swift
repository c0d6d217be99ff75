package import CordonPolicy
internal import Foundation

/// A Graph document taken apart: what the service owns or keeps beside it, and the rest.
package struct PolicyDocument {
    /// Members that only the service writes; ignored on input, never a fault (SRV-RS-012).
    private static let owned: Set<String> = [
        "id", "createdDateTime", "lastModifiedDateTime", "version", "isAssigned", "deployedAppCount",
        "deploymentSummary", "@odata.type",
    ]

    /// The members to keep in ``ManagedAppPolicy/document``.
    package var members: [String: JSONValue]
    /// The apps, nil when the document names none.
    package var apps: [MobileAppIdentifier]?
    /// The set of apps, nil when the document names none.
    package var appGroup: AppGroup?
    /// The assignments, nil when the document names none.
    package var assignments: [PolicyAssignment]?

    /// Takes a document apart.
    ///
    /// - Parameter isChange: Whether null unsets; a new policy has nothing to unset (SRV-RS-013).
    /// - Throws: ``ServiceError`` with code `invalid`, also as ``checkUnknown(_:)``.
    package init(_ document: JSONValue, isChange: Bool = false) throws(ServiceError) {
        guard case .object(var members) = document else {
            throw ServiceError(.invalid, "a policy is a JSON object")
        }
        members = members.filter { name, _ in !Self.owned.contains(name) && !name.contains("@odata.") }
        try Self.checkUnknown(members)
        if isChange {
            let unset: [String: JSONValue] = [
                "apps": [], "assignments": [], "appGroupType": .string(AppGroup.selectedPublicApps.rawValue),
            ]
            for (name, value) in unset where members[name] == .null { members[name] = value }
        }
        apps = try GraphApps.apps(in: members.removeValue(forKey: "apps"))
        assignments = try GraphAssignments.assignments(in: members.removeValue(forKey: "assignments"))
        appGroup = try GraphApps.group(in: members.removeValue(forKey: "appGroupType"))
        self.members = members
    }

    /// Checks what every kind needs and every setting of a protection, naming each fault.
    ///
    /// - Returns: The document in one spelling, with the defaults of a new policy where it leaves a setting out.
    package static func checked(_ members: [String: JSONValue], _ kind: PolicyKind) throws(ServiceError) -> JSONValue {
        // What several changes added counts together.
        try checkUnknown(members)
        guard JSONValue.object(members).text().utf8.count <= largest else {
            throw ServiceError(.invalid, "a policy has at most \(largest >> 20) MiB of JSON")
        }
        let given = members
        let members = completed(members, kind)
        var problems: [ServiceError.Problem] = []
        switch members["displayName"]?.string?.count {
        case .some(1...200): break
        default: problems.append(.init(member: "displayName", reason: "needs 1 to 200 characters"))
        }
        if let description = members["description"], description != .null,
            (description.string?.count ?? .max) > 10_000
        {
            problems.append(.init(member: "description", reason: "needs to be a text of at most 10000 characters"))
        }
        if let flaw = ManagedAppPolicy.flaw(ofLevels: members["targetedAppManagementLevels"], kind) {
            problems.append(.init(member: "targetedAppManagementLevels", reason: flaw))
        }
        // Apps get it inside an envelope, and read no JSON that is nested much deeper.
        for (name, value) in members.sorted(by: { $0.key < $1.key }) where value.isNested(deeperThan: deepest) {
            problems.append(.init(member: name, reason: "is nested deeper than \(deepest) levels"))
        }
        if let settings = members["customSettings"], settings != .null {
            problems += faults(inCustomSettings: settings)
        }
        var document = JSONValue.object(members)
        switch kind {
        case .iosManagedAppProtection, .defaultManagedAppProtection:
            do {
                let policy = try AppProtectionPolicy(graphJSON: document)
                document = PolicySpelling.canonical(policy.completeGraphJSON, meaning: policy)
            } catch {
                problems += faults(inSettings: members)
            }
        case .androidManagedAppProtection: document = PolicySpelling.canonicalMembers(members)
        case .targetedManagedAppConfiguration: break
        }
        if kind == .defaultManagedAppProtection, case .object(var all) = document {
            for name in notOfDefaults where given[name] == nil { all[name] = nil }
            document = .object(all)
        }
        guard problems.isEmpty else {
            let names = problems.map(\.member).joined(separator: ", ")
            throw ServiceError(.invalid, "the policy is not acceptable at \(names)", problems: problems)
        }
        return document
    }

    /// Refuses more members that are not known here than any policy has: they are kept and shown, looked at by every change, and
    /// compared with every known name.
    ///
    /// - Throws: ``ServiceError`` with code `invalid`.
    package static func checkUnknown(_ members: [String: JSONValue]) throws(ServiceError) {
        var (count, size) = (0, 0)
        for (name, value) in members where !AppProtectionPolicy.hasMember(name) && !ofConfigurations.contains(name) {
            count += 1
            size += name.utf8.count + value.text().utf8.count
            guard count <= mostUnknown, size <= largestUnknown else {
                throw ServiceError(
                    .invalid,
                    "a policy has at most \(mostUnknown) members that are not known here, "
                        + "of \(largestUnknown >> 10) KiB together")
            }
        }
    }

    /// How many members that are not known here a policy may have: room for what later versions of Graph add.
    package static let mostUnknown = 100
    /// How many bytes these may have together, as JSON.
    package static let largestUnknown = 64 << 10
    /// How many bytes a policy may have as JSON: a body's most for what was given, and as much for what was there.
    private static let largest = 2 << 20
    /// Members of configurations that protections do not have.
    private static let ofConfigurations: Set<String> = ["settings"]

    /// How deep a member may be nested: every reader of JSON here takes 64 levels, with what stands around.
    private static let deepest = 48

    /// Settings of iOS that a default protection does not have (SRV-RS-103): kept and enforced where they are given,
    /// not filled in.
    private static let notOfDefaults = [
        "appActionIfAccountIsClockedOut", "exemptedUniversalLinks", "genmojiConfigurationState",
        "managedUniversalLinks", "screenCaptureConfigurationState", "writingToolsConfigurationState",
    ]

    /// The members with those that every kind has where the author gave none (SRV-RS-018, 022, 074).
    private static func completed(_ members: [String: JSONValue], _ kind: PolicyKind) -> [String: JSONValue] {
        var usual: [String: JSONValue] = ["description": "", "roleScopeTagIds": [.string(ScopeTag.defaultID)]]
        if kind.isAssignable { usual["targetedAppManagementLevels"] = "unspecified" }
        return members.merging(usual) { given, usual in
            given == .null || (given.array?.isEmpty ?? false) ? usual : given
        }
    }

    /// Every member that cannot be read, each looked at alone (SRV-OP-025).
    private static func faults(inSettings members: [String: JSONValue]) -> [ServiceError.Problem] {
        members.sorted { $0.key < $1.key }.compactMap { name, value in
            guard name != "displayName" else { return nil }
            do throws(PolicyError) {
                _ = try AppProtectionPolicy(graphJSON: .object([name: value]))
                return nil
            } catch {
                return ServiceError.Problem(member: error.place.isEmpty ? name : error.place, reason: error.reason)
            }
        }
    }

    /// Names and values are texts, and no name is given twice (SRV-RS-111).
    private static func faults(inCustomSettings settings: JSONValue) -> [ServiceError.Problem] {
        guard let pairs = settings.array else {
            return [.init(member: "customSettings", reason: "needs to be a list of name and value")]
        }
        var names: Set<String> = []
        return pairs.enumerated().compactMap { index, pair in
            let member = "customSettings[\(index)]"
            guard let name = pair["name"]?.string, let value = pair["value"], value.string != nil else {
                return .init(member: member, reason: "needs name and value as texts")
            }
            // Apps would refuse every connection that they check (SDK-CP-01).
            if name == CertificatePins.configurationKey, !CertificatePins.understands(value) {
                return .init(
                    member: member,
                    reason:
                        "needs to be a JSON object with a list of SHA-256 pins for each host, named without * and port")
            }
            return names.insert(name).inserted ? nil : .init(member: member, reason: "its name is given twice")
        }
    }
}

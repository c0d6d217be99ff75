import CordonPolicy
import CordonService
import CordonServiceHTTP
import HTTPTypes
import Hummingbird

extension GraphExchange {
    /// Whether the client wants a request taken as it is where it can be (`Prefer: handling=lenient`, RFC 7240 §4.4).
    var isLenient: Bool { prefers("handling=lenient") }

    /// Whether the client wants every member refused that is not known (`Prefer: handling=strict`).
    private var isStrict: Bool { prefers("handling=strict") }

    private func prefers(_ wanted: String) -> Bool {
        request.headers[values: .prefer].flatMap { $0.split(separator: ",") }.contains { preference in
            let plain = preference.prefix { $0 != ";" }.lowercased()
            return plain.filter { $0 != " " && $0 != "\"" } == wanted
        }
    }

    /// An answer that says that such a request was taken as it is.
    func applyingPreference(_ answer: GraphAnswer) -> GraphAnswer { isLenient ? .lenient(answer) : answer }

    /// Refuses members that are most likely misspelt, naming what was meant: kept without a word, `printBloked` would leave
    /// printing allowed. Other members that are not known stay what they are (SRV-RS-011).
    ///
    /// - Parameters:
    ///   - place: What stands before the names of the members in the refusal.
    ///   - known: Members that were kept before, which may be written back.
    ///   - knows: Whether a name is known, for clients that want all others refused.
    ///   - meant: The known member that a name was meant to be, nil for none.
    func checkSpelling(
        of members: [String: JSONValue], at place: String = "", except known: [String: JSONValue] = [:],
        knows: (String) -> Bool, meant: (String) -> String?
    ) throws {
        guard !isLenient else { return }
        let details = members.keys.sorted().prefix(Self.mostSpelled).compactMap { name -> Refusal.Detail? in
            guard !name.contains("@"), known[name] == nil else { return nil }
            if let meant = meant(name) {
                return Refusal.Detail(target: place + name, message: "is not known here; did you mean \(meant)?")
            }
            guard isStrict, !knows(name) else { return nil }
            return Refusal.Detail(target: place + name, message: "is not known here.")
        }
        guard let first = details.first else { return }
        var refusal = Refusal.badRequest(
            "\(first.target) \(first.message) Prefer: handling=lenient takes the request as it is.")
        refusal.details = details
        throw refusal
    }

    /// The same for a resource that has few members.
    func checkSpelling(of members: [String: JSONValue], among known: [String]) throws {
        try checkSpelling(of: members, knows: { known.contains($0) || Self.isOfEveryResource($0) }) { name in
            Self.tags.contains(name) ? nil : MemberSpelling.meant(by: name, among: known)
        }
    }

    /// Members that every resource may carry, because the service shows them.
    private static func isOfEveryResource(_ name: String) -> Bool {
        tags.contains(name) || ["id", "createdDateTime", "lastModifiedDateTime", "version"].contains(name)
    }

    /// The same for a policy, with its assignments. More members that are not known than a policy may have are refused before each is
    /// compared with every known one.
    func checkSpelling(
        ofPolicy members: [String: JSONValue], _ kind: PolicyKind, except known: [String: JSONValue] = [:]
    ) throws {
        try PolicyDocument.checkUnknown(members)
        try checkSpelling(
            of: members, except: known,
            knows: { name in
                if Self.isOfEveryResource(name) || Self.ofConfigurations.contains(name) { return true }
                return kind != .targetedManagedAppConfiguration && AppProtectionPolicy.isMember(name)
            }
        ) { name in
            guard kind == .targetedManagedAppConfiguration else { return AppProtectionPolicy.memberMeant(by: name) }
            return Self.tags.contains(name) ? nil : MemberSpelling.meant(by: name, among: Self.ofConfigurations)
        }
        try checkSpelling(ofAssignments: members["assignments"])
    }

    /// The same for targets: without its filter a policy would reach every member of the group.
    func checkSpelling(ofAssignments assignments: JSONValue?) throws {
        for (index, entry) in (assignments?.array ?? []).prefix(PolicyInput.mostAssignments).enumerated() {
            let target = entry["target"]?.object ?? [:]
            guard target.count <= Self.mostOfTarget else {
                throw PolicyInput.refusal(
                    "assignments[\(index)].target", "a target has at most \(Self.mostOfTarget) members")
            }
            try checkSpelling(
                of: target, at: "assignments[\(index)].target.",
                knows: Self.ofTargets.contains
            ) { name in
                MemberSpelling.meant(by: name, among: Self.ofTargets)
            }
        }
    }

    /// The most members that are looked at: many times what a policy has.
    private static let mostSpelled = 1_000
    /// The most members of a target; those that are known are six.
    private static let mostOfTarget = 20
    /// Policies, and other resources, call their tags by one of these names, and clients send either.
    private static let tags: Set<String> = ["roleScopeTags", "roleScopeTagIds"]
    private static let ofConfigurations = [
        "displayName", "description", "roleScopeTagIds", "customSettings", "settings", "apps", "assignments",
        "appGroupType", "targetedAppManagementLevels",
    ]
    private static let ofTargets = [
        "groupId", "collectionId", "deviceAndAppManagementAssignmentFilterId",
        "deviceAndAppManagementAssignmentFilterType",
    ]
}

import CordonPolicy
import Foundation

/// The list of policies (SRV-UI-02).
struct PolicyListPage {
    func add(to table: ConsoleTable) { table.get("/console/policies", lists: "read", show) }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let all = try await visit.api.all(
            PolicyPages.collection
                + "?$top=999&$select=displayName,appGroupType,targetedAppManagementLevels,version,lastModifiedDateTime"
                + "&$expand=apps($select=id),assignments($select=target)")
        let search = visit.query["search"].lowercased()
        let policies = all.filter {
            !PolicyPages.isConfiguration($0) && (search.isEmpty || $0.text("displayName").lowercased().contains(search))
        }
        let sorted = Self.sorted(policies, by: visit.query["sort"])
        let first = min(max(0, Int(visit.query["from"]) ?? 0), sorted.count)
        let shown = sorted.dropFirst(first).prefix(Self.mostShown)
        let groups = try await PolicyTargeting.names(
            ofGroups: PolicyTargeting.groups(
                in: shown.flatMap { $0.list("assignments").prefix(Self.mostTargets) }), visit)
        let inForce = try await VersionsInForce(of: shown.map { $0.text("id") }, visit)
        let rows = shown.map { policy -> [Cell] in
            let assignments = policy.list("assignments")
            var targets = assignments.prefix(Self.mostTargets).map {
                Cell.text(PolicyTargeting.words(of: $0["target"] ?? .null, groups))
            }
            if assignments.count > targets.count {
                targets.append(.text("and \(assignments.count - targets.count) more"))
            }
            return [
                .link(.data(policy.text("displayName")), PolicyPages.path(policy.text("id"))),
                PolicyPages.described(policy),
                policy.list("apps").isEmpty ? .text(PolicyPages.apps(policy)) : .text("\(policy.list("apps").count)"),
                targets.isEmpty ? PolicyPages.unassigned(policy) : .list(targets),
                inForce.version(of: policy),
                .list([
                    .time(policy.date("lastModifiedDateTime")), .text("by \(inForce.name(of: policy.text("id")))"),
                ]),
            ]
        }
        let next = first + shown.count
        let more = Link(
            "More",
            "/console/policies?from=\(next)&search=\(ConsolePath.part(visit.query["search"]))&sort=\(ConsolePath.part(visit.query["sort"]))"
        )
        var blocks: [Block] = []
        if visit.may("writePolicies") {
            let links = [
                Link("New policy from a baseline", "/console/policies/new", isMain: true),
                Link("From JSON", "/console/policies/import"),
            ]
            blocks.append(.links(links))
        }
        blocks += [
            .form(
                Form(
                    "/console/policies", submit: "Search", asks: true,
                    [
                        Field(.text, "search", "Name", value: visit.query["search"]),
                        Field(.choice(Self.orders), "sort", "Sorted by", value: visit.query["sort"]),
                    ])),
            .table(
                Table(
                    "Policies", ["Name", "Kind", "Apps", "Assigned", "Version", "Changed"], rows,
                    empty: search.isEmpty
                        ? "There is no policy yet. Make one from a baseline, add apps and assign it to a group."
                        : "No policy has this in its name.", more: next < sorted.count ? more : nil)),
        ]
        return .page(
            Page(
                "Policies", .policies,
                lead: "What people may do with organisation data, in which apps, and who gets the rules.",
                blocks))
    }

    /// The most policies of a page, and the most groups that each names there.
    private static let (mostShown, mostTargets) = (50, 5)

    private static let orders: [(value: String, text: Phrase)] = [
        ("", "name"), ("changed", "last change"), ("kind", "kind"),
    ]

    private static func sorted(_ policies: [JSONValue], by order: String) -> [JSONValue] {
        func name(_ policy: JSONValue) -> String { policy.text("displayName").lowercased() }
        return policies.sorted { left, right in
            switch order {
            case "changed": left.text("lastModifiedDateTime") > right.text("lastModifiedDateTime")
            case "kind": (left.text("@odata.type"), name(left)) < (right.text("@odata.type"), name(right))
            default: name(left) < name(right)
            }
        }
    }
}

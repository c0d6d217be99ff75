import CordonPolicy
import CordonServiceHTTP
import Foundation

/// What needs a person, and how protection stands (SRV-UI-01).
struct OverviewPage {
    func add(to table: ConsoleTable) { table.get("/console", lists: "read", live: true, show) }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        guard visit.may("read") else {
            return .page(
                Page(
                    "Welcome", .overview,
                    [
                        .note(
                            .notice, "You are signed in, and have no role that shows anything here.",
                            [
                                "Ask an owner to put you into a group that has a role.",
                                "Your object id: \(visit.me.text("id"))",
                            ]), .links([Link("Sign in as another person", "/console/sign-in?fresh=1")]),
                    ]))
        }
        let summary = try await visit.api.get("/admin/v1/reports/summary")
        let attention = try await visit.api.get("/admin/v1/reports/attention")
        let (failed, open) = (attention.number("failedWipes"), attention.number("openWipes"))
        let (flagged, overdue) = (attention.number("flaggedApps"), attention.number("overdueApps"))
        let (waiting, expiring) = (attention.number("waitingWipes"), attention.number("expiringApps"))
        let (blocked, alerts) = (attention.number("blockedPeople"), attention.number("alerts"))
        let policies = try await visit.api.all(
            PolicyPages.collection + "?$top=100&$select=appGroupType&$expand=apps($select=id),assignments($select=id)"
        ).filter { !PolicyPages.isConfiguration($0) }
        let days = try await visit.api.get("/admin/v1/telemetry").array ?? []
        let assigned = summary["assignedUsers"] ?? .null
        let unprotected = assigned.number("unprotected")
        // Where one policy is for everyone else, every person has a policy.
        let unassigned = policies.contains(where: PolicyPages.isForEveryone) ? 0 : summary.number("unassignedUsers")
        let idle = policies.count { $0.list("assignments").isEmpty && !PolicyPages.isForEveryone($0) }
        let appless = policies.count(where: PolicyPages.lacksApps)
        let isKeyOld = try await Self.isSigningKeyOld(visit)
        func tile(_ number: Int, _ text: Phrase, one: Phrase, _ href: String, _ tone: Tone = .notice) -> Tile {
            Tile(number: "\(number)", text: number == 1 ? one : text, tone: number == 0 ? .plain : tone, href: href)
        }
        var blocks: [Block] = []
        if policies.isEmpty {
            blocks.append(
                .note(
                    .notice, "No person is protected yet: there is no policy.",
                    [
                        "Make a policy from a baseline, name its apps and assign it to a group. It holds from when people next open one of these apps."
                    ]))
            if visit.may("writePolicies") {
                blocks.append(.links([Link("Make the first policy", "/console/policies/new", isMain: true)]))
            }
        }
        let needs =
            failed + waiting + alerts + overdue + expiring + flagged + unprotected + idle + appless + (isKeyOld ? 1 : 0)
        if needs > 0 {
            blocks.append(.text("Some things need attention:"))
        } else if !policies.isEmpty {
            blocks.append(.note(.good, "Nothing needs attention at the moment.", []))
        }
        if isKeyOld {
            blocks.append(
                .note(.notice, "The key that signs rules is older than a year.", ["Make a new one under Service."]))
        }
        blocks += [
            .tiles([
                tile(
                    failed, "wipes failed or lapsed", one: "wipe failed or lapsed", "/console/wipes?state=failed", .bad),
                tile(open, "wipes under way", one: "wipe under way", "/console/wipes?state=open"),
                tile(
                    waiting, "wipes that wait for more than a day", one: "wipe that waits for more than a day",
                    "/console/wipes?state=open"),
                tile(
                    flagged, "devices report something wrong", one: "device reports something wrong",
                    "/console/reports/flagged", .bad),
                tile(
                    overdue, "apps without the newest rules for over a day",
                    one: "app without the newest rules for over a day", "/console/reports/drift"),
                tile(
                    expiring, "apps about to be forgotten, unless they check in",
                    one: "app about to be forgotten, unless it checks in", "/console/reports/expiring"),
                tile(
                    unprotected, "people with a policy who are not protected yet",
                    one: "person with a policy who is not protected yet", "/console/people?state=unprotected"),
                tile(
                    unassigned, "people without a policy", one: "person without a policy",
                    "/console/people?state=unassigned", .plain),
                tile(idle, "policies without an assignment", one: "policy without an assignment", "/console/policies"),
                tile(appless, "policies without an app", one: "policy without an app", "/console/policies"),
                tile(blocked, "blocked people", one: "blocked person", "/console/blocked"),
                tile(alerts, "alerts", one: "alert", "/console/reports/alerts", .bad),
            ])
        ]
        blocks += Self.charts(summary, days)
        return .page(Page("Overview", .overview, lead: "As of \(Moment.text(visit.now)).", isLive: true, blocks))
    }

    /// Whether the key that signs rules is due to be changed.
    private static func isSigningKeyOld(_ visit: ConsoleVisit) async throws -> Bool {
        let keys = try await visit.api.get("/admin/v1/keys").array ?? []
        let starts = keys.filter { $0.text("role") == "envelope" }.compactMap { $0.date("activeFrom") }
        return starts.max().map { $0.addingTimeInterval(365 * 86_400) < visit.now } ?? false
    }

    /// How people stand, and what apps reported on each of the last days.
    static func charts(_ summary: JSONValue, _ days: [JSONValue]) -> [Block] {
        let people = summary["assignedUsers"] ?? .null, states = summary["usersByStatus"] ?? .null
        let last = days.sorted { $0.text("day") < $1.text("day") }.suffix(14)
        return [
            .chart(
                Chart(
                    title: "People with a policy",
                    bars: [
                        .init(name: "protected", value: people.number("protected"), tone: .good),
                        .init(name: "not protected yet", value: people.number("unprotected"), tone: .notice),
                        .init(name: "with a flagged device", value: states.number("flagged"), tone: .bad),
                        .init(name: "blocked", value: states.number("blocked"), tone: .bad),
                        .init(name: "without an enrolled app", value: states.number("notCheckedIn")),
                    ])),
            .chart(
                Chart(
                    title: "Rules that came into force, by day",
                    bars: last.map {
                        .init(name: .data($0.text("day")), value: $0["counts"]?.number("policyApplied") ?? 0)
                    })),
        ]
    }
}

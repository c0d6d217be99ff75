import CordonPolicy
import Foundation

/// How two policies differ (SRV-UI-02).
struct PolicyComparison {
    func add(to table: ConsoleTable) { table.get("/console/policies/:id/compare", compare) }

    @Sendable private func compare(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let entity = try await visit.api.get(PolicyPages.route(visit.keys[0]))
        visit.begin()
        let others = try await visit.api.all(PolicyPages.collection + "?$top=200&$select=displayName").filter {
            !PolicyPages.isConfiguration($0) && $0.text("id") != entity.text("id")
        }
        let path = PolicyPages.path(visit.keys[0])
        var blocks: [Block] = [
            .form(
                Form(
                    path + "/compare", submit: "Compare", asks: true,
                    [
                        Field(
                            .choice(others.map { ($0.text("id"), .data($0.text("displayName"))) }), "with", "With",
                            value: visit.query["with"])
                    ]))
        ]
        if others.isEmpty {
            blocks = [.note(.notice, "There is no other policy yet. Make a copy to compare with.", [])]
        }
        if others.contains(where: { $0.text("id") == visit.query["with"] }),
            let other = try? await visit.api.get(PolicyPages.route(visit.query["with"])),
            let (left, right) = try? (AppProtectionPolicy(graphJSON: entity), AppProtectionPolicy(graphJSON: other))
        {
            blocks.append(
                .table(
                    Table(
                        "Settings that differ", ["Setting", "Here", "There", "The other is"],
                        PolicyDiff(from: left, to: right).changes.map { change in
                            [
                                .text(SettingTexts.text(of: change.setting).label),
                                .text(SettingTexts.value(change.from, of: change.setting)),
                                .text(SettingTexts.value(change.to, of: change.setting)),
                                .text(change.direction.map { SettingTexts.words($0.rawValue) } ?? "no effect here"),
                            ]
                        }, empty: "Every setting is the same.")))
        }
        return .page(
            Page(
                "Compare \(entity.text("displayName"))", .policies,
                above: Link(.data(entity.text("displayName")), path), blocks))
    }
}

import CordonPolicy
import CordonService
import Foundation

/// A plan as a person at a terminal reads it.
enum PolicyPlanReport {
    private static let mostEffects = 20

    static func print(_ plan: PolicyPlan) {
        for drift in plan.drift { print(drift) }
        for (path, before) in (plan.renamed ?? [:]).sorted(by: { $0.key < $1.key }) {
            Terminal.data("\(Style.dim("renamed"))  \(before) is \(path) now")
        }
        for step in plan.steps { print(step, plan.names ?? [:]) }
        for other in plan.others.prefix(mostEffects) {
            Terminal.data("\(Style.dim("beside"))  \(other.kind.rawValue) “\(other.name)” (\(other.id)) is in no file")
        }
        if plan.others.count > mostEffects { Terminal.data("  … and \(plan.others.count - mostEffects) more") }
    }

    static func print(_ step: PolicyPlan.Step, _ names: [String: String]) {
        let word =
            switch step.action {
            case .create: Style.green("create")
            case .update: Style.yellow("update")
            case .remove: Style.red("remove")
            }
        Terminal.data("\(word)  \(step.file)  “\(step.name)”\(step.id.map { " (\($0))" } ?? "")")
        guard let effect = step.effect else { return }
        // Of something new every member would be told; whom it is for is what a person has to look at.
        for change in effect.changes where step.action == .update || change.member.hasPrefix("assignments[") {
            Terminal.data("    " + line(change, names))
        }
        print(effect)
    }

    /// A member that differs, with the names of the groups and filters beside their ids.
    static func line(_ change: MemberChange, _ names: [String: String]) -> String {
        let direction =
            switch change.direction {
            case .stricter: "  " + Style.green("stricter")
            case .weaker: "  " + Style.red("weaker")
            case .different: "  " + Style.yellow("different")
            case nil: ""
            }
        let (from, to) = (change.from?.text() ?? "absent", change.to?.text() ?? "absent")
        let said = names.sorted { $0.key < $1.key }.reduce("\(change.member): \(from) -> \(to)") { text, entry in
            text.replacing(entry.key, with: "\(entry.key) “\(entry.value)”")
        }
        return said + direction
    }

    /// Whom a change reaches, what they notice, and what it takes.
    ///
    /// - Parameter name: What to call the policy of an id.
    static func print(_ effect: Impact, calling name: (String) -> String = { $0 }) {
        for line in effect.effects.prefix(mostEffects) {
            Terminal.data(
                "    \(line.to > line.from ? Style.green("stricter") : Style.red("weaker"))  \(line.sentence)")
        }
        if effect.effects.count > mostEffects {
            Terminal.data("    … and \(effect.effects.count - mostEffects) more")
        }
        Terminal.data("    other rules for \(words(effect.reach))")
        for wipe in effect.wipes.prefix(mostEffects) { Terminal.data("    \(Style.red("wipes"))  \(wipe.sentence)") }
        if effect.needsWipePermission {
            Terminal.data("    \(Style.red("data lost")) by \(words(effect.losing)), at once or once that is so")
            Terminal.data("    takes the permission to wipe and a fresh sign-in")
        }
        if effect.needsApproval { Terminal.data("    \(Style.red("takes a second person")) who releases it") }
        for winner in effect.winners.prefix(mostEffects) {
            let others = winner.others.map(name).joined(separator: ", ")
            Terminal.data(
                "    where policies meet, \(winner.setting) = \(winner.value.text()) comes from \(name(winner.policy)), "
                    + "not from \(others)")
        }
    }

    private static func words(_ reach: Reach) -> String {
        let people = reach.people == 1 ? "one person" : "\(reach.people) people"
        return people + " in " + (reach.registrations == 1 ? "one app" : "\(reach.registrations) apps")
    }

    private static func print(_ drift: PolicyPlan.Drift) {
        guard !drift.isGone else {
            return Terminal.data(
                "\(Style.red("drift"))   \(drift.file)  “\(drift.name)” is not on the service any more")
        }
        var line = "\(Style.red("drift"))   \(drift.file)  “\(drift.name)” was changed on the service"
        if let author = drift.author { line += " by \(author)" }
        if let modified = drift.modified { line += " at \(modified.formatted(.iso8601))" }
        if let reason = drift.reason { line += ": \(reason)" }
        Terminal.data(line)
        if !drift.members.isEmpty { Terminal.data("    differs: \(drift.members.joined(separator: ", "))") }
    }
}

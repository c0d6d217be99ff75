import CordonBase
import CordonIdentity
import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// What a person may do, why, and the smallest change that would turn the answer (SRV-UI-12).
struct AskPage {
    func add(to table: ConsoleTable) { table.get("/console/ask", lists: "read", show) }

    private static let actions: [(value: String, text: Phrase)] = [
        ("send", "give data to another app"), ("receive", "take data from another app"), ("copy", "copy text"),
        ("paste", "paste text"), ("saveTo", "save a copy somewhere"), ("openFrom", "open a file from somewhere"),
        ("print", "print"), ("share", "share with extensions"), ("openURL", "open a web link"),
        ("openUniversalLink", "open a link in an app"), ("notify", "show a notification"),
        ("syncContacts", "copy contacts to the device"), ("showWidget", "show a widget"),
        ("captureScreen", "take a picture of the screen"), ("backUp", "back up"),
        ("useKeyboard", "use another keyboard"),
        ("siriIntent", "use Siri"), ("indexSpotlight", "find it in Spotlight"), ("useGenmoji", "make emoji"),
        ("useWritingTools", "rewrite with writing tools"),
    ]
    private static let peers: [(value: String, text: Phrase)] = [
        ("", "no other app"), ("managed", "a protected app, same account"),
        ("unmanaged", "an app that is not protected"),
        ("exempt", "an exempted app"),
    ]

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let person = visit.query["person"], app = visit.query["app"]
        let action = visit.query["action"].isEmpty ? "send" : visit.query["action"]
        let places =
            [(value: "", text: Phrase("no particular place"))]
            + Location.allCases.map { (value: $0.rawValue, text: SettingTexts.words($0.rawValue)) }
        // The answer goes before the form, where it is seen without scrolling.
        let user = person.isEmpty ? nil : try await Self.user(person, visit)
        var blocks: [Block] = []
        if let user {
            // Who comes from a person's page has not asked anything yet.
            if visit.query.has("action") { blocks = try await answer(visit, user, app: app, action: action) }
        } else if !person.isEmpty {
            blocks = [
                .note(.bad, "The directory has no person with this name.", ["Look under People for the sign-in name."])
            ]
        }
        blocks.append(
            .form(
                Form(
                    "/console/ask", submit: "Ask", asks: true,
                    [
                        Field(
                            .text, "person", "Person",
                            help: user.map { user in
                                "This is \(user.text("displayName")), who signs in as \(user.text("userPrincipalName"))."
                            } ?? "Sign-in name, such as worker@example.com, or object id.",
                            value: person, isRequired: true),
                        Field(
                            .text, "app", "App",
                            help: "Bundle id. Leave empty for the first app of the person's policies.", value: app),
                        Field(.choice(Self.actions), "action", "Wants to", value: action),
                        Field(.choice(Self.peers), "peer", "With", value: visit.query["peer"]),
                        Field(.choice(places), "place", "Place", value: visit.query["place"]),
                        Field(.text, "url", "Link", help: "Only for opening links.", value: visit.query["url"]),
                    ])))
        return .page(
            Page(
                "Ask", .ask,
                lead: "May this person do this with organisation data? The answer is the one that the app gives.",
                blocks))
    }

    /// The person with a sign-in name or an id; nil where the directory has none.
    private static func user(_ person: String, _ visit: ConsoleVisit) async throws -> JSONValue? {
        do {
            return try await visit.api.get(PeoplePages.route(person))
        } catch let refusal as Refusal where refusal.status == .notFound {
            return nil
        }
    }

    /// The fields of the page that the engine needs and that were left empty, with what to do about each.
    private static func missing(_ decision: PolicyDecision) -> [Phrase] {
        let fields: [(name: String, advice: Phrase)] = [
            ("peer", "Choose under With which app is meant."), ("location", "Choose a place."),
            ("url", "Fill in the link."),
        ]
        return fields.filter { field in
            let told = Texts.denialItCannotBeToldWhetherThis(field: field.name)
            return decision.reasons.contains { $0.message.hasPrefix(told) }
        }.map(\.advice)
    }

    private func answer(
        _ visit: ConsoleVisit, _ user: JSONValue, app: String, action: String
    ) async throws -> [Block] {
        let rules = try await PersonRules(of: user.text("id"), app: app, visit)
        let (bundle, reaching) = (rules.bundleID, rules.protections)
        let policies = reaching.compactMap { try? AppProtectionPolicy(graphJSON: $0) }
        let links = reaching.map { Cell.link(.data($0.text("displayName")), PolicyPages.path($0.text("id"))) }
        guard let effective = EffectivePolicy.merging(policies) else {
            return [
                .note(
                    .notice,
                    bundle.isEmpty
                        ? "No policy reaches \(user.text("displayName")) in any app."
                        : "No policy reaches \(user.text("displayName")) in \(bundle).",
                    [
                        "Without a policy, an app that requires protection stays closed. Assign one to a group of this person."
                    ])
            ]
        }
        let question: Question
        do {
            question = try Question(json: json(visit, user.text("id"), action))
        } catch {
            return [.note(.bad, "This question cannot be asked: \(.said(error.reason))", [])]
        }
        let decision = PolicySet(everyManagedAccount: effective).decision(for: question)
        let missing = Self.missing(decision)
        guard missing.isEmpty else {
            return [.note(.notice, "The answer depends on something that is not filled in yet.", missing)]
        }
        let (words, tone): (Phrase, Tone) =
            switch decision.verdict {
            case .allow: ("Yes.", .good)
            case .restrict: ("Yes, in a reduced form.", .notice)
            case .warn: ("Yes, after a notice.", .notice)
            case .block: ("No.", .bad)
            case .wipe: ("No, and organisation data is removed.", .bad)
            }
        var blocks: [Block] = [
            .note(tone, words, decision.reasons.map { "\(.said($0.message)) \(.said($0.remedy))" }),
            .facts([
                ("Person", .link(.data(user.text("displayName")), PeoplePages.path(user.text("id")))),
                ("App", .code(bundle)),
                ("Policies", .list(links)),
            ]),
            .table(
                Table(
                    "Reasons", ["Setting", "Value in force", "Comes from", "Rule"],
                    decision.reasons.map { reason in
                        [
                            .text(reason.setting.isEmpty ? .data("–") : SettingTexts.text(of: reason.setting).label),
                            .text(SettingTexts.value(reason.value)),
                            reason.policy.map { policy in
                                .link(
                                    .data(
                                        reaching.first { $0.text("id") == policy.id }?.text("displayName") ?? policy.id),
                                    PolicyPages.path(policy.id))
                            } ?? .text(""), .code(reason.rule),
                        ]
                    }, empty: "No setting forbids it.")),
        ]
        let changes = policies.flatMap { policy in policy.changes(allowing: question).map { (policy, $0) } }
        if !decision.verdict.permits {
            blocks.append(
                .table(
                    Table(
                        "The smallest change that would allow it", ["Policy", "Setting", "From", "To"],
                        changes.map { policy, change in
                            [
                                .link(.data(policy.displayName), PolicyPages.path(policy.id)),
                                .text(SettingTexts.text(of: change.setting).label),
                                .text(SettingTexts.value(change.from)), .text(SettingTexts.value(change.to)),
                            ]
                        }, empty: "No single setting would allow it.")))
        }
        return blocks
    }

    private func json(_ visit: ConsoleVisit, _ id: String, _ action: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "action": .string(action), "owner": ["account": "managed", "id": .string(id)],
        ]
        switch visit.query["peer"] {
        case "managed": members["peer"] = ["app": "managed", "account": "managed", "id": .string(id)]
        case "unmanaged": members["peer"] = ["app": "unmanaged", "account": "none"]
        case "exempt": members["peer"] = ["app": "exempt", "account": "none"]
        default: break
        }
        if !visit.query["place"].isEmpty { members["location"] = .string(visit.query["place"]) }
        if !visit.query["url"].isEmpty { members["url"] = .string(visit.query["url"]) }
        return .object(members)
    }
}

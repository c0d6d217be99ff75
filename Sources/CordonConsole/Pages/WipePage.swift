import CordonBase
import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// One wipe with its receipt: what the app signed, to read and to take along (SRV-UI-17).
struct WipePage {
    func add(to table: ConsoleTable) {
        table.get("/console/wipes/:registration/:id", show)
        table.post("/console/wipes/:registration/:id/cancel") { visit in
            try await visit.api.call(
                .delete, DevicePages.route(visit.keys[0]) + "/operations/" + ConsolePath.part(visit.keys[1]))
            return .moved("/console/wipes")
        }
    }

    /// A wipe with what its app signed, which is a file to take along as well.
    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let wipe = try await visit.api.get("/admin/v1/wipes/" + ConsolePath.part(visit.keys[1]))
        guard wipe.text("registrationId") == visit.keys[0] else {
            throw Refusal(.notFound, "not-found", "There is no such wipe.")
        }
        let user = wipe.text("userId")
        let receipt = wipe["receipt"]?.string
        if visit.query["format"] == "jws" {
            guard let receipt else { throw Refusal(.notFound, "not-found", "This wipe has no receipt.") }
            return .response(ReportFile.signature(receipt, named: Self.fileName(of: wipe)))
        }
        visit.begin()
        let people = try await PeopleStatus(of: [user, wipe.text("requestedBy")], visit)
        let facts: [(Phrase, Cell)] = [
            ("Person", .link(.data(people.name(of: user)), PeoplePages.path(user))),
            ("Device", WipePages.device(wipe)), ("App", .code(wipe.text("bundleId"))),
            ("State", .list(WipePages.state(wipe, visit))), ("Steps", WipePages.steps(wipe)),
            ("Requested by", .text(WipePages.author(wipe, people))), ("Receipt", .list(WipePages.proof(wipe))),
        ]
        var blocks: [Block] = [.links(AuditPages.link(to: user, visit)), .facts(facts)]
        if let receipt {
            blocks.append(
                .card(
                    "The receipt",
                    [
                        .text(
                            "The app signed this with its own key, and the service verified it before it called the wipe done or failed. The audit log has it too, with the key, so that others can verify it."
                        ),
                        .text(
                            wipe.text("state") == "succeeded"
                                ? "The app destroyed the keys that it names, so no one can read what is left of the files, not even in copies. It counts the files that the app still found and deleted."
                                : ""),
                        .code(Self.content(ofReceipt: receipt), label: "What the app signed"),
                        .links([Link("Download the receipt", WipePages.path(wipe) + "?format=jws", isMain: true)]),
                    ]))
        } else {
            blocks += WipePages.waiting([wipe], visit)
        }
        return .page(
            Page(
                "A wipe of \(people.name(of: user))", .wipes,
                above: Link("Wipes of \(people.name(of: user))", "/console/wipes?user=" + ConsolePath.part(user)),
                blocks))
    }

    /// What the file of a receipt is called: by its device and the day.
    private static func fileName(of wipe: JSONValue) -> String {
        let tag = wipe.text("deviceTag").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.suffix(8)
        let day = WipePages.verified(wipe).map { "-" + Moment.text($0).prefix(10) } ?? ""
        return "wipe-receipt\(tag.isEmpty ? "" : "-" + tag)\(day).jws"
    }

    /// What a receipt says, a line for each member.
    private static func content(ofReceipt text: String) -> Phrase {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])),
            let members = (try? JSONValue(parsing: bytes))?.object
        else { return .data(text) }
        return .data(
            members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.string ?? $0.value.text())" }
                .joined(separator: "\n"))
    }
}

import CordonPolicy
import CordonServiceHTTP
import Foundation

/// What the pages say of a wipe: how far it is, what can be done about it, and where it is shown (SRV-UI-17).
enum WipePages {
    private static let steps = ["pending", "delivered", "acknowledged", "succeeded"]

    static func words(_ state: String) -> (Phrase, Tone) {
        switch state {
        case "pending": ("1 of 4: requested", .notice)
        case "delivered": ("2 of 4: delivered to the app", .notice)
        case "acknowledged": ("3 of 4: under way", .notice)
        case "succeeded": ("4 of 4: done, receipt verified", .good)
        case "failed": ("failed", .bad)
        case "cancelled": ("cancelled", .plain)
        case "expired": ("lapsed", .bad)
        default: (SettingTexts.words(state), .plain)
        }
    }

    /// - Parameter registration: The id of the app on a device whose wipes they are.
    static func table(_ caption: Phrase, _ operations: [JSONValue], on registration: String) -> Table {
        Table(
            caption, ["Wipe", "State", "Changed"],
            operations.map { operation in
                let (text, tone) = words(operation.text("state"))
                return [
                    .link(.said(operation.text("displayName")), path(of: operation.text("id"), on: registration)),
                    .badge(text, tone),
                    .time(operation.date("lastModifiedDateTime")),
                ]
            }, empty: "This app was never wiped.")
    }

    /// The steps that a wipe has made, each with its time.
    static func steps(_ wipe: JSONValue) -> Cell {
        let known = wipe.list("steps")
        var cells = known.flatMap { step -> [Cell] in
            [.text(self.step(step.text("state"))), .time(step.date("time"))]
        }
        // Of what an earlier version moved on, the last step alone has a time.
        if let last = known.last, last.text("state") != wipe.text("state") {
            cells += [.text(step(wipe.text("state"))), .time(wipe.date("modified"))]
        }
        return .list(cells)
    }

    private static func step(_ state: String) -> Phrase {
        switch state {
        case "pending": "requested"
        case "delivered": "delivered"
        case "acknowledged": "under way"
        case "succeeded": "done"
        default: words(state).0
        }
    }

    /// Whether a wipe can be taken back, and by whom.
    static func cancelling(_ visit: ConsoleVisit) -> Phrase {
        visit.may("cancelWipes")
            ? "Until an app has fetched it, you can cancel it in the list of wipes. After that it is too late: the app has the signed order, and carries it out without asking again."
            : "Until an app has fetched it, an administrator who may cancel wipes can take it back. After that it is too late: the app has the signed order, and carries it out without asking again."
    }

    /// What becomes of the wipes of a person that are under way, and whether they can still be taken back.
    static func waiting(_ wipes: [JSONValue], _ visit: ConsoleVisit) -> [Block] {
        let open = wipes.filter(isOpen)
        guard !open.isEmpty else {
            // Of the newest wipe, the page has just said that it is under way.
            guard wipes.first?.text("state") == "succeeded" else { return [] }
            return [
                .note(
                    .good,
                    "The newest wipe is done: the app has removed its data and signed a receipt, which was verified.",
                    [])
            ]
        }
        let pending = open.filter { $0.text("state") == "pending" }
        var said: [Phrase] = []
        if let first = pending.compactMap({ $0.date("notAfter") }).min() {
            said.append(
                "Each app removes its data at its next contact with the service. A phone that is off is waited for until \(.data(Moment.text(first))); then the wipe lapses, and the service asks for it again if the app comes back later."
            )
            said.append(cancelling(visit))
        }
        if pending.count < open.count {
            said.append(
                "\(open.count - pending.count) wipes have been delivered, and cannot be cancelled any more: the app has the signed order."
            )
        }
        return [.note(.notice, "Wipe requested: \(open.count) apps have not reported yet.", said)]
    }

    /// The device of a wipe, by the name that it has on the other pages.
    static func device(_ wipe: JSONValue) -> Cell {
        wipe["deviceTag"]?.string == nil
            ? .text("not known any more")
            : .link(.data(DevicePages.name(wipe)), DevicePages.path(wipe.text("registrationId")))
    }

    static func author(_ wipe: JSONValue, _ people: PeopleStatus) -> Phrase {
        let author = wipe.text("requestedBy")
        return author == wipe.text("registrationId") ? "the app itself" : .data(people.name(of: author))
    }

    /// How long a wipe waits; of one that is over, that its receipt was verified, and when.
    static func proof(_ wipe: JSONValue) -> [Cell] {
        if isOpen(wipe) { return [.text("waits until"), .time(wipe.date("notAfter"))] }
        guard wipe["receipt"]?.string != nil else { return [.text("none")] }
        return [.badge("signed, verified", .good), .time(verified(wipe))]
    }

    /// When the service took the receipt, which it does once it has verified it.
    static func verified(_ wipe: JSONValue) -> Date? {
        wipe.list("steps").last { ["succeeded", "failed"].contains($0.text("state")) }?.date("time")
            ?? wipe.date("modified")
    }

    static func path(of wipe: String, on registration: String) -> String {
        "/console/wipes/" + [registration, wipe].map(ConsolePath.part).joined(separator: "/")
    }

    static func path(_ wipe: JSONValue) -> String {
        path(of: wipe.text("id"), on: wipe.text("registrationId"))
    }

    static func isOpen(_ wipe: JSONValue) -> Bool { steps.dropLast().contains(wipe.text("state")) }

    /// How far a wipe is, and what can be done about it.
    static func state(_ wipe: JSONValue, _ visit: ConsoleVisit) -> [Cell] {
        let (text, tone) = words(wipe.text("state"))
        var state: [Cell] = [.badge(text, tone)]
        if let failure = wipe["failureReason"]?.string { state.append(.text(.said(failure))) }
        if ["failed", "expired"].contains(wipe.text("state")), visit.may("wipe") {
            state.append(
                wipe["successorId"]?.string == nil
                    ? .link("Wipe again…", PeoplePages.path(wipe.text("userId")) + "/wipe") : .text("wiped again"))
        }
        if wipe.number("attempt") > 1 { state.append(.text("attempt \(.data("\(wipe.number("attempt"))"))")) }
        if visit.may("cancelWipes"), wipe.text("state") == "pending" {
            state.append(.button("Cancel", action: path(wipe) + "/cancel", fields: [("page", path(wipe))]))
        }
        return state
    }
}

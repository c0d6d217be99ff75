import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// Apps on devices: which device is which, what is in force there, and what it last said (SRV-UI-14).
struct DevicePages {
    func add(to table: ConsoleTable) {
        table.get("/console/devices", lists: "read", list)
        table.get("/console/devices/:id", live: true, show)
        table.post("/console/devices/:id/logs") { visit in
            try await visit.api.call(.post, "/admin/v1/registrations/\(ConsolePath.part(visit.keys[0]))/logs")
            return .moved(Self.path(visit.keys[0]))
        }
        table.get("/console/devices/:id/forget", needs: "forgetRegistrations", confirmForgetting)
        table.post("/console/devices/:id/forget") { visit in
            try await visit.api.call(.delete, Self.route(visit.keys[0]))
            return .moved("/console/devices")
        }
    }

    static func path(_ id: String) -> String { "/console/devices/" + ConsolePath.part(id) }
    static func route(_ id: String) -> String {
        "/beta/deviceAppManagement/managedAppRegistrations/" + ConsolePath.part(id)
    }

    /// What a person calls the device: its name, else its model and what its tag ends with.
    static func name(_ registration: JSONValue) -> String {
        let name = registration.text("deviceName")
        let model = registration["deviceModel"]?.string ?? registration.text("deviceType")
        return name.isEmpty ? "\(model) …\(registration.text("deviceTag").suffix(4))" : "\(name) (\(model))"
    }

    static func flags(_ registration: JSONValue) -> [Phrase] {
        registration.list("flaggedReasons").compactMap(\.string).filter { $0 != "none" }.map(SettingTexts.words)
    }

    /// - Parameter people: Whose the devices are; nil on the page of one person.
    static func table(
        _ caption: Phrase, _ registrations: [JSONValue], of people: PeopleStatus? = nil,
        empty: Phrase = "No app has enrolled yet. Assign a policy; apps enrol when people sign in to them.",
        more: Link? = nil
    ) -> Table {
        let rows = registrations.map { registration -> [Cell] in
            let flags = flags(registration)
            let applied = registration["appliedPolicies"]?.array
            return [
                .link(.data(name(registration)), path(registration.text("id")))
            ]
                + (people.map { people in
                    let id = registration.text("userId")
                    return [Cell.link(.data(people.name(of: id)), PeoplePages.path(id))]
                } ?? []) + [
                    .code(registration["appIdentifier"]?.text("bundleId") ?? ""),
                    .text("\(registration.text("applicationVersion")), system \(registration.text("platformVersion"))"),
                    .time(registration.date("lastSyncDateTime")),
                    .list(
                        (flags.isEmpty ? [.badge("healthy", .good)] : flags.map { .badge($0, .bad) })
                            + (applied.map { $0.isEmpty ? [.badge("no rules confirmed", .notice)] : [] } ?? [])),
                ]
        }
        return Table(
            caption, ["Device"] + (people == nil ? [] : ["Person"]) + ["App", "Versions", "Last contact", "State"],
            rows, empty: empty, more: more)
    }

    @Sendable private func list(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        var path = "/beta/deviceAppManagement/managedAppRegistrations?$top=50&$expand=appliedPolicies($select=id)"
        if visit.query.has("next") { path += "&$skiptoken=" + ConsolePath.part(visit.query["next"]) }
        let page = try await visit.api.get(path)
        let after = visit.query.has("shared") ? "&after=" + ConsolePath.part(visit.query["shared"]) : ""
        let (shared, next) = try await visit.api.page("/admin/v1/devices?top=\(ListPages.mostShown)" + after)
        let people = try await PeopleStatus(of: page.list("value").map { $0.text("userId") }, visit)
        var blocks: [Block] = [
            .table(
                Self.table(
                    "Apps on devices", page.list("value"), of: people, more: ListPages.more(page, "/console/devices")))
        ]
        if !shared.isEmpty {
            blocks.append(
                .table(
                    Table(
                        "Shared devices", ["Device", "Signed in", "Since", "Last seen"],
                        shared.map { device in
                            [
                                .text(.data(device["name"]?.string ?? device.text("id"))),
                                device["account"]?.string.map { .link(.data($0), PeoplePages.path($0)) }
                                    ?? .text("not in use"),
                                .time(device.date("accountSince")), .time(device.date("lastSeen")),
                            ]
                        }, empty: "",
                        more: next.map { Link("More", "/console/devices?shared=" + ConsolePath.part($0["after"])) })))
        }
        return .page(
            Page("Devices", .devices, lead: "Every app that has enrolled, and where it runs.", blocks))
    }

    @Sendable private func show(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let id = visit.keys[0]
        _ = try await visit.api.get(Self.route(id) + "?$select=id")
        visit.begin()
        let one = try await visit.api.get(
            Self.route(id)
                + "?$expand=operations,appliedPolicies($select=displayName,version),intendedPolicies($select=displayName,version)"
        )
        let user = try? await visit.api.get(PeoplePages.route(one.text("userId")))
        let (applied, intended) = (one.list("appliedPolicies"), one.list("intendedPolicies"))
        func version(_ policies: [JSONValue], _ id: String) -> String {
            policies.first { $0.text("id") == id }.map { $0.text("version") } ?? "–"
        }
        let ids = Dictionary(
            (applied + intended).map { ($0.text("id"), $0.text("displayName")) },
            uniquingKeysWith: { first, _ in first })
        let isBehind = ids.keys.contains { version(applied, $0) != version(intended, $0) }
        let flags = Self.flags(one)
        let isWiped = intended.isEmpty && one.list("operations").contains { $0.text("state") == "succeeded" }
        var blocks: [Block] = [
            isWiped
                ? .note(
                    .good, "Organisation data was removed from this app.",
                    ["It has no rules any more. To use it again, the person signs in to it, and it enrols anew."])
                : isBehind
                    ? .note(
                        .notice, "This app does not have the newest rules yet.",
                        ["It gets them at its next contact. Ask the person to open the app while online."])
                    : .note(.good, "The rules in force are the newest.", [])
        ]
        if !flags.isEmpty { blocks.append(.note(.bad, "The device reports:", flags)) }
        var links: [Link] = []
        if visit.may("wipe"), !isWiped {
            links.append(
                Link(
                    "Wipe this device…",
                    PeoplePages.path(one.text("userId")) + "/wipe?tag=" + ConsolePath.part(one.text("deviceTag")),
                    isMain: true))
        }
        if visit.may("forgetRegistrations") { links.append(Link("Forget…", Self.path(id) + "/forget")) }
        blocks += [
            .links(links),
            .facts([
                (
                    "Person",
                    .link(.data(user?.text("displayName") ?? one.text("userId")), PeoplePages.path(one.text("userId")))
                ),
                ("App", .code(one["appIdentifier"]?.text("bundleId") ?? "")),
                ("App version", .text(.data(one.text("applicationVersion")))),
                ("Protection library", .text(.data(one.text("managementSdkVersion")))),
                ("System", .text(.data(one.text("platformVersion")))),
                ("Model", .text(.data(one.text("deviceModel")))), ("Device tag", .code(one.text("deviceTag"))),
                ("Enrolled", .time(one.date("createdDateTime"))), ("Last contact", .time(one.date("lastSyncDateTime"))),
                ("Registration", .code(one.text("id"))),
            ]),
        ]
        if !isWiped {
            blocks.append(
                .table(
                    Table(
                        "Rules", ["Policy", "In force", "Meant to be in force", ""],
                        ids.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { policy, name in
                            let (now, then) = (version(applied, policy), version(intended, policy))
                            return [
                                .link(.data(name), PolicyPages.path(policy)), .code(now), .code(then),
                                now == then ? .badge("the same", .good) : .badge("at the next contact", .notice),
                            ]
                        }, empty: "No policy reaches this person in this app. Assign one.")))
        }
        blocks.append(.table(WipePages.table("Wipes", one.list("operations"), on: id)))
        if visit.may("collectLogs") {
            let page = [("page", Self.path(id))]
            blocks.append(
                .form(
                    Form(
                        Self.path(id) + "/logs", submit: "Ask the app for its logs", hidden: page, isQuiet: true, [])))
        }
        return .page(
            Page(.data(Self.name(one)), .devices, isLive: true, above: Link("Devices", "/console/devices"), blocks))
    }

    @Sendable private func confirmForgetting(_ visit: ConsoleVisit) async throws -> ConsoleAnswer {
        let one = try await visit.api.get(Self.route(visit.keys[0]))
        let path = Self.path(visit.keys[0])
        return .page(
            Page(
                "Forget \(Self.name(one))?", .devices, above: Link(.data(Self.name(one)), path),
                [
                    .note(
                        .bad,
                        "The service forgets the app. Nothing is wiped: organisation data stays on the device until the app notices.",
                        ["Wipe first if the data must go."]),
                    .form(
                        Form(
                            path + "/forget", submit: "Forget", hidden: [("page", path + "/forget")], isGrave: true,
                            cancel: Link("Cancel", path), [])),
                ]))
    }
}

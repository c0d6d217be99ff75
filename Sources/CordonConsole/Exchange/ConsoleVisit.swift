import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes

/// One request of a person who is signed in.
struct ConsoleVisit: Sendable {
    let api: ConsoleAPI
    let session: ConsoleSession
    /// What `GET /admin/v1/me` says.
    let me: JSONValue
    /// What the page was asked with.
    let query: ConsoleForm
    /// What was sent.
    let form: ConsoleForm
    /// What was filled in before for this page, and has not taken effect.
    let draft: ConsoleForm?
    let keys: [String]
    let language: ConsoleLanguage
    let now: Date
    /// Where the page says that it will be one; nil where nothing is sent before it is whole.
    let start: PageStart?

    var name: String { me["name"]?.string ?? "" }

    /// The person's roles, by name.
    var roles: Phrase {
        .list(
            (me["roles"]?.array ?? []).compactMap(\.string).map(SettingTexts.words)
                + (me["customRoles"]?.array ?? []).compactMap { $0["displayName"]?.string }.map { .data($0) })
    }

    /// Whether some role of the person includes a permission; the service decides in each case.
    func may(_ permission: String) -> Bool {
        ["permissions", "limitedPermissions"].contains { me[$0]?.array?.contains(.string(permission)) ?? false }
    }

    /// Whether the person may do something to everything, by a token that suffices for every route of the console.
    func mayEverywhere(_ permission: String) -> Bool {
        me.list("permissions").contains(.string(permission))
            && me.list("scopes").contains("DeviceManagementApps.ReadWrite.All")
    }

    /// Says that the answer will be a page: the person may see it, and what it is about exists. Its first bytes go out then.
    func begin() { start?.begin() }

    /// Whether the person has any use for a part of the console.
    func sees(_ area: ConsoleArea) -> Bool {
        switch area {
        case .overview: true
        case .audit: may("readAudit")
        case .wipes, .policies, .configurations, .people, .devices, .ask, .approvals, .reports, .roles, .service:
            may("read")
        }
    }

    /// What a field shows: what was typed before, else what is known.
    func typed(_ name: String, else known: String = "") -> String {
        draft.map { $0.all(name).joined(separator: ",") } ?? known
    }
}

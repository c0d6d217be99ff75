import CordonIdentity
import CordonService
import Foundation

/// The one line that `cordon serve` prints on standard output.
struct ServeReport: Codable, Sendable, Equatable {
    /// The address that clients use.
    var address: String
    /// The address that was bound, where it differs.
    var listening: String
    /// This program's version.
    var version: String
    /// The organisation.
    var tenant: String
    /// The thumbprint of the root key, to be pinned in apps.
    var rootKey: String
    /// Whether its secret lies with the service's other keys.
    var rootKeyIsHere: Bool
    /// Whether the embedded identity provider is used.
    var development: Bool
    /// The OpenID provider's issuer; of several, the first.
    var issuer: String
    /// The process id, for a script that stops it.
    var process: Int32
}

extension ServeReport {
    /// What an operator should know where the directory is not what decides who enrols.
    static let opensEnrolment =
        "everyone to whom the provider gives a check-in token may enrol; --first-sign-in refuse ends that"

    /// What a terminal is told at the start.
    func lines(of plan: ServePlan) -> [String] {
        var lines = ["cordon answers at \(address); its apps pin the root key \(rootKey)"]
        if plan.console != nil { lines.append("the console is at \(address)/console") }
        if plan.isDevelopment {
            let passwords = plan.folder.appending(path: DevelopmentPeople.passwordsFile).path
            lines.append("people to sign in as, and their passwords, are in \(TerminalText(passwords))")
        }
        if plan.service.createsPeopleAtSignIn { lines.append(Self.opensEnrolment) }
        if rootKeyIsHere, !plan.isDevelopment {
            lines.append("the root key is on this machine; cordon keys export-root moves it away")
        }
        return lines
    }
}

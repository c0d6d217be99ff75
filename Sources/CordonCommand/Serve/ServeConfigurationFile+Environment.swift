import CordonPolicy
import CordonServiceHTTP
import Foundation

extension ServeConfigurationFile {
    /// What the name of every setting begins with in the environment.
    static let prefix = "CORDON_"

    /// These settings with those of the environment above them: `CORDON_LISTEN`, `CORDON_PUBLIC_URL`, …; lists are
    /// separated by commas, and a variable that is empty counts as absent. `roles` have no variable.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput` for a value of the wrong kind.
    func overridden(by environment: [String: String]) throws(CommandFailure) -> ServeConfigurationFile {
        func text(_ name: String) -> String? {
            environment[Self.prefix + name].flatMap { $0.isEmpty ? nil : $0 }
        }
        func list(_ name: String) -> [String]? {
            text(name)?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        var set = self
        set.listen = text("LISTEN") ?? listen
        set.publicURL = text("PUBLIC_URL") ?? publicURL
        set.consoleOrigin = text("CONSOLE_ORIGIN") ?? consoleOrigin
        set.consoleClient = text("CONSOLE_CLIENT") ?? consoleClient
        set.consoleSecretFile = text("CONSOLE_SECRET_FILE") ?? consoleSecretFile
        set.consoleScopes = list("CONSOLE_SCOPES") ?? consoleScopes
        set.database = text("DATABASE") ?? database
        set.dataDirectory = text("DATA_DIRECTORY") ?? dataDirectory
        set.tenant = text("TENANT") ?? tenant
        set.issuers = list("ISSUERS")?.map { IssuerSettings(issuer: $0, profile: profile(of: $0)) } ?? issuers
        set.checkInAudience = text("CHECK_IN_AUDIENCE") ?? checkInAudience
        set.administrationAudiences = list("ADMINISTRATION_AUDIENCES") ?? administrationAudiences
        set.tlsCertificate = text("TLS_CERTIFICATE") ?? tlsCertificate
        set.tlsKey = text("TLS_KEY") ?? tlsKey
        set.metrics = text("METRICS") ?? metrics
        set.directory = text("DIRECTORY") ?? directory
        set.alertWebhook = text("ALERT_WEBHOOK") ?? alertWebhook
        set.alertSecretFile = text("ALERT_SECRET_FILE") ?? alertSecretFile
        set.auditWebhook = text("AUDIT_WEBHOOK") ?? auditWebhook
        set.auditSecretFile = text("AUDIT_SECRET_FILE") ?? auditSecretFile
        func number(_ name: String, _ unit: String) throws(CommandFailure) -> Int? {
            guard let word = text(name) else { return nil }
            guard let value = Int(word) else { throw Self.unusable(name, "a number" + unit) }
            return value
        }
        set.stepUpSeconds = try number("STEP_UP_SECONDS", " of seconds") ?? stepUpSeconds
        set.maxTokenSeconds = try number("MAX_TOKEN_SECONDS", " of seconds") ?? maxTokenSeconds
        set.maxConnections = try number("MAX_CONNECTIONS", "") ?? maxConnections
        set.registrationsPerPerson = try number("REGISTRATIONS_PER_PERSON", "") ?? registrationsPerPerson
        set.wipeBudget = try number("WIPE_BUDGET", " of people") ?? wipeBudget
        set.impactLimit = try number("IMPACT_LIMIT", " of people") ?? impactLimit
        set.approvalDelaySeconds = try number("APPROVAL_DELAY_SECONDS", " of seconds") ?? approvalDelaySeconds
        set.versionRetentionDays = try number("VERSION_RETENTION_DAYS", " of days") ?? versionRetentionDays
        set.announcementsPerSecond = try number("ANNOUNCEMENTS_PER_SECOND", " of apps") ?? announcementsPerSecond
        if let words = list("RETENTION_DAYS") {
            var days: [String: Int] = retentionDays ?? [:]
            for word in words {
                let halves = word.split(separator: "=")
                guard halves.count == 2, let number = Int(halves[1]) else {
                    throw Self.unusable("RETENTION_DAYS", "names with days, such as telemetry=10,logs=5")
                }
                days[String(halves[0])] = number
            }
            set.retentionDays = days
        }
        func flag(_ name: String) throws(CommandFailure) -> Bool? {
            guard let word = text(name) else { return nil }
            guard let value = ["true": true, "1": true, "false": false, "0": false][word.lowercased()] else {
                throw Self.unusable(name, "true or false")
            }
            return value
        }
        set.behindProxy = try flag("BEHIND_PROXY") ?? behindProxy
        set.console = try flag("CONSOLE") ?? console
        set.appAttestApps = list("APP_ATTEST_APPS") ?? appAttestApps
        set.appAttestDevelopment = try flag("APP_ATTEST_DEVELOPMENT") ?? appAttestDevelopment
        func word<Word: RawRepresentable & CaseIterable>(_ name: String, _ type: Word.Type) throws(CommandFailure)
            -> Word?
        where Word.RawValue == String {
            guard let word = text(name) else { return nil }
            guard let value = Word(rawValue: word) else {
                throw Self.unusable(name, Word.allCases.map(\.rawValue).joined(separator: ", "))
            }
            return value
        }
        set.firstSignIn = try word("FIRST_SIGN_IN", FirstSignIn.self) ?? firstSignIn
        set.numericConflict = try word("NUMERIC_CONFLICT", NumericConflict.self) ?? numericConflict
        set.logLevel = try word("LOG_LEVEL", ServeLogging.Level.self) ?? logLevel
        set.logFormat = try word("LOG_FORMAT", ServeLogging.Format.self) ?? logFormat
        return set
    }

    /// How the file says that an issuer's tokens look; naming the issuer elsewhere does not change that.
    func profile(of issuer: String) -> IssuerProfile? { issuers?.first { $0.issuer == issuer }?.profile }

    /// Variables of the environment that look like settings but are not, in order: most likely misspelt ones.
    static func strangers(in environment: [String: String]) -> [String] {
        let known = Set(CodingKeys.allCases.filter { $0 != .roles }.map { prefix + variable($0.rawValue) })
        return environment.keys.filter { $0.hasPrefix(prefix) && !known.contains($0) }.sorted()
    }

    /// `maxConnections` as `MAX_CONNECTIONS`.
    private static func variable(_ name: String) -> String {
        name.reduce(into: "") { $0 += $1.isUppercase ? "_\($1)" : $1.uppercased() }
    }

    private static func unusable(_ name: String, _ values: String) -> CommandFailure {
        CommandFailure(.badInput, "\(prefix)\(name) is of the wrong kind", hint: "set it to \(values), or unset it")
    }
}

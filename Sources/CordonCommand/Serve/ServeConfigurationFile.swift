import CordonPolicy
import CordonService
import Foundation

/// The settings of `cordon serve` in a JSON file; every member may be absent, an unknown one is an error.
struct ServeConfigurationFile: Decodable, Equatable {
    var listen: String?
    var publicURL: String?
    var consoleOrigin: String?
    /// Whether there is a console at all.
    var console: Bool?
    /// The console's client id at the provider, the file with its secret, and the scopes that it asks for.
    var consoleClient: String?
    var consoleSecretFile: String?
    var consoleScopes: [String]?
    /// Cordon's roles by a group, a role or an object id that tokens say.
    var roles: [String: [AdministratorRole]]?
    /// How fresh a sign-in must be for a wipe, in seconds; 0 switches that off.
    var stepUpSeconds: Int?
    var database: String?
    var dataDirectory: String?
    var tenant: String?
    var issuers: [IssuerSettings]?
    var checkInAudience: String?
    var administrationAudiences: [String]?
    var tlsCertificate: String?
    var tlsKey: String?
    var behindProxy: Bool?
    var metrics: String?
    var maxConnections: Int?
    /// The longest life of a check-in token, in seconds; 0 for any.
    var maxTokenSeconds: Int?
    /// What happens when policies differ in a number field (SRV-TG-12).
    var numericConflict: NumericConflict?
    /// How many registrations one person may have open at once.
    var registrationsPerPerson: Int?
    /// How many people one administrator or program may make lose data in an hour without a second person.
    var wipeBudget: Int?
    /// How many people a change may make lose data without repeating the token of its impact.
    var impactLimit: Int?
    /// How long a change waits before it passes where fewer than two people could release it, in seconds.
    var approvalDelaySeconds: Int?
    /// How long versions, and what was delivered to whom, are kept.
    var versionRetentionDays: Int?
    /// How long other things are kept, in days by ``ServeRetention``.
    var retentionDays: [String: Int]?
    /// How many apps are told of a change in a second, about.
    var announcementsPerSecond: Int?
    /// Apps by team and bundle id that show by App Attest that they are themselves, and whether Apple's development environment counts.
    var appAttestApps: [String]?
    var appAttestDevelopment: Bool?
    var directory: String?
    /// Where alerts are posted, and the file with the secret that signs them (SRV-TG-29).
    var alertWebhook: String?
    var alertSecretFile: String?
    /// Where the audit log is posted, and the file with the secret that signs it.
    var auditWebhook: String?
    var auditSecretFile: String?
    var firstSignIn: FirstSignIn?
    var logLevel: ServeLogging.Level?
    var logFormat: ServeLogging.Format?

    /// What happens when a person enrols whom the directory does not know.
    enum FirstSignIn: String, Codable, CaseIterable {
        /// They become a person of the directory.
        case create
        /// They are refused.
        case refuse
    }

    init() {}

    enum CodingKeys: String, CodingKey, CaseIterable {
        case listen
        case publicURL = "publicUrl"
        case consoleOrigin, console, consoleClient, consoleSecretFile, consoleScopes, roles, stepUpSeconds, database,
            dataDirectory, tenant, issuers, checkInAudience,
            administrationAudiences, tlsCertificate, tlsKey
        case registrationsPerPerson, wipeBudget, impactLimit, approvalDelaySeconds, versionRetentionDays, retentionDays,
            announcementsPerSecond, appAttestApps, appAttestDevelopment
        case behindProxy, metrics, maxConnections, maxTokenSeconds, numericConflict, directory, alertWebhook,
            alertSecretFile, auditWebhook, auditSecretFile, firstSignIn, logLevel, logFormat
    }

    private static let largest = 1 << 20

    /// The values of a setting that has a few, nil for any other.
    private static func words(of path: [any CodingKey]) -> String? {
        func list<Word: CaseIterable & RawRepresentable>(_: Word.Type) -> String where Word.RawValue == String {
            Word.allCases.map(\.rawValue).joined(separator: ", ")
        }
        return switch path.first.flatMap({ CodingKeys(rawValue: $0.stringValue) }) {
        case .logLevel: list(ServeLogging.Level.self)
        case .logFormat: list(ServeLogging.Format.self)
        case .firstSignIn: list(FirstSignIn.self)
        case .numericConflict: list(NumericConflict.self)
        case .roles where path.count == 3: list(AdministratorRole.self)
        default: nil
        }
    }

    /// Reads a file.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`: missing, unreadable, not JSON, a member that is unknown or
    ///   of the wrong kind.
    init(path: String) throws(CommandFailure) {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch CocoaError.fileReadNoSuchFile {
            throw CommandFailure(
                .badInput, "\(path): there is no such file", hint: "check the path of the configuration")
        } catch {
            throw CommandFailure(
                .badInput, "\(path): the configuration cannot be read", hint: "check the path and its permissions")
        }
        let known = CodingKeys.allCases.map(\.rawValue)
        do {
            guard bytes.count <= Self.largest else { throw CommandFailure(.badInput, "\(path): too large") }
            let names = try JSONDecoder().decode(MemberNames.self, from: bytes)
            if let strange = names.strange(besides: known) {
                throw CommandFailure(
                    .badInput, "\(path): \(strange) is not a setting",
                    hint: MemberNames.hint(to: strange, besides: known))
            }
            self = try JSONDecoder().decode(Self.self, from: bytes)
        } catch let error as CommandFailure {
            throw error
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty
        {
            let place = context.codingPath.reduce(into: "") { path, key in
                path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? "" : ".") + key.stringValue
            }
            if let words = Self.words(of: context.codingPath) {
                throw CommandFailure(.badInput, "\(path): \(place) is not one of its values", hint: "use \(words)")
            }
            throw CommandFailure(
                .badInput, "\(path): \(place) is of the wrong kind",
                hint:
                    "texts are strings, issuers a list of strings or objects, roles lists of roles by a group; see docs/operating.md "
                    + "and docs/providers.md"
            )
        } catch {
            throw CommandFailure(.badInput, "\(path): the configuration is not JSON", hint: "check it with a JSON tool")
        }
    }
}

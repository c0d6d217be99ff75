import CordonProtocol
import Foundation

/// Who can sign in, and how often their passwords may be tried.
struct ProviderPeople: Sendable {
    private(set) var directory: DevelopmentDirectory
    private var attempts: ProviderAttemptLimiter
    /// What an unknown name's password is compared with, so that the time taken does not tell who exists.
    private let decoy: DirectoryPassword?

    init(_ directory: DevelopmentDirectory, configuration: IdentityProviderConfiguration) throws(ProgramError) {
        try directory.validate()
        self.directory = directory
        attempts = ProviderAttemptLimiter(
            perKey: configuration.passwordAttempts, total: configuration.passwordAttempts * 10,
            window: ProviderEnvironment.seconds(configuration.passwordAttemptWindow), capacity: configuration.capacity)
        guard let first = directory.people.first else {
            decoy = nil
            return
        }
        decoy = try DirectoryPassword("nobody", parameters: first.password.parameters)
    }

    /// The person with this id, if they may hold tokens right now.
    func enabled(_ id: String) -> DevelopmentDirectory.Person? {
        directory.person(id: id).flatMap { $0.accountEnabled ? $0 : nil }
    }

    /// Puts another directory in force; the ids of people who may no longer hold tokens.
    mutating func replace(with directory: DevelopmentDirectory) throws(ProgramError) -> [String] {
        try directory.validate()
        let before = self.directory.people.map(\.id)
        self.directory = directory
        return before.filter { enabled($0) == nil }
    }

    /// Seconds to wait before another password for this name; nil when this one may be tried, which is then counted.
    mutating func beginAttempt(_ name: String, at now: Date) -> Int? { attempts.begin(name.lowercased(), at: now) }

    /// Forgets the attempts for a name after a success.
    mutating func succeed(_ name: String, at now: Date) { attempts.succeed(name.lowercased(), at: now) }

    /// The person with this name, and what a password is to be compared with.
    func candidate(_ name: String) -> (person: DevelopmentDirectory.Person?, password: DirectoryPassword?) {
        let person = directory.person(userPrincipalName: name)
        return (person, person?.password ?? decoy)
    }
}

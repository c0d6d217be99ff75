import CordonIdentity
import CordonProtocol
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Logging
import Testing

@testable import CordonBroker

/// A broker without a socket, a provider in the same process, and apps that talk to it in requests and answers.
final class BrokerStand: Sendable {
    static let resource = "https://service.contoso.example/check-in"
    static let scopes = ["mam.checkin"]
    static let user: UInt32 = 900

    let folder = TemporaryFolder.newPath()
    let time = SettableClock()
    let provider: FakeIdentityProvider
    let configuration: BrokerConfiguration

    init(_ change: (inout BrokerConfiguration) -> Void = { _ in }) throws {
        let time = time
        provider = FakeIdentityProvider(now: { time.now })
        var signIn = SignInConfiguration(issuer: provider.issuer, clientID: provider.clientID)
        signIn.redirect = .application(try #require(URL(string: "cordon.broker://auth")))
        var configuration = BrokerConfiguration(signIn: signIn)
        configuration.profileSaysShared = true
        configuration.managedConfigurationSaysShared = true
        configuration.joinRoles = [BrokerConfiguration.cloudDeviceAdministrator]
        for name in ["notes", "board", "third"] {
            configuration.apps.append(
                AllowedApp(name: name, path: "/apps/\(name)", clientIDs: [name], bundleID: "example.\(name)"))
        }
        change(&configuration)
        self.configuration = configuration
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// A broker on the folder, as after a start of the process.
    func broker(
        transport: (any HTTPTransport)? = nil, folder other: URL? = nil, secrets: (any SecretStore)? = nil,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) async throws -> Broker {
        let folder = other ?? folder
        return try await Broker(
            configuration, folder: folder,
            secrets: secrets ?? FileSecretStore(directory: folder.appending(path: "secrets")),
            transport: transport ?? provider.transport, environment: time.environment, user: Self.user,
            logger: logger)
    }

    /// A broker of a device that was joined.
    func joinedBroker(
        transport: (any HTTPTransport)? = nil, secrets: (any SecretStore)? = nil
    ) async throws -> Broker {
        let broker = try await broker(transport: transport, secrets: secrets)
        let administrator = try await BrokerApp("joiner", at: broker, user: Self.user)
        let answer = await administrator.attended(.deviceJoin, as: .administrator, at: provider)
        #expect(answer.error == nil, "\(String(describing: answer.error))")
        await administrator.leave()
        return broker
    }
}

extension FakePerson {
    /// A person with the role Cloud Device Administrator.
    static let administrator = FakePerson(
        "ada@contoso.example", subject: "sub-ada", objectID: "oid-ada", tenant: "contoso", name: "Ada",
        roles: [BrokerConfiguration.cloudDeviceAdministrator])
    /// The same role in another organisation.
    static let stranger = FakePerson(
        "eve@fabrikam.example", subject: "sub-eve", objectID: "oid-eve", tenant: "fabrikam", name: "Eve",
        roles: [BrokerConfiguration.cloudDeviceAdministrator])
}

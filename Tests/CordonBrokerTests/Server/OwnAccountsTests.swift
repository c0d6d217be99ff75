import CordonBase
import CordonIdentity
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// An app that had accounts of its own when the device became shared (SI-155).
@Suite(.timeLimit(.minutes(10))) struct OwnAccountsTests {
    private struct Stuck: Error {}

    /// Two people, signed in as on a device of their own.
    private func client(_ stand: BrokerStand) async throws -> SignInClient {
        let client = try SignInClient(
            configuration: SignInConfiguration(issuer: stand.provider.issuer, clientID: stand.provider.clientID),
            transport: stand.provider.transport,
            cache: TokenCache(directory: stand.folder.appending(path: "own"), secrets: MemorySecretStore()),
            environment: stand.time.environment)
        let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)
        for person in [FakePerson.worker, .otherWorker] {
            _ = try await client.signIn(request, browser: stand.provider.browser(signingInAs: person))
        }
        return client
    }

    @Test func `accounts that an app kept by itself go once the device is shared, and not before`() async throws {
        try await ServedBroker.serve { socket, stand in
            let client = try await client(stand)
            let both = Set([FakePerson.worker.account, FakePerson.otherWorker.account])
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { _ in }
            let cleared = Locked<[AccountID]>([])
            let clear: @Sendable (AccountID) async throws -> Void = { account in
                // What a registration is ended with can still be had.
                _ = try await client.accessToken(
                    for: account, resource: BrokerStand.resource, scopes: BrokerStand.scopes)
                cleared.withLock { $0.append(account) }
            }
            #expect(try await notes.removeOwnAccounts(of: client, clearData: clear).isEmpty, "not shared yet")
            let lost = try SharedDeviceMode(socket: "/nowhere/broker.sock", clientID: "notes")
            await #expect(throws: SignInError(.brokerUnavailable, .brokerMissing, "")) {
                try await lost.removeOwnAccounts(of: client, clearData: clear)
            }
            #expect(try await Set(client.accounts().map(\.id)) == both && cleared.withLock { $0.isEmpty })

            try await ServedBroker.join(socket, stand)
            await #expect(throws: Stuck.self) { try await notes.removeOwnAccounts(of: client) { _ in throw Stuck() } }
            #expect(try await Set(client.accounts().map(\.id)) == both, "what could not be cleared is tried again")
            let gone = try await notes.removeOwnAccounts(of: client, clearData: clear)
            #expect(Set(gone) == both && Set(cleared.withLock { $0 }) == both)
            #expect(try await client.accounts().isEmpty)
            #expect(try await client.deliverRevocations() == 0, "the provider has heard")
            #expect(try await notes.removeOwnAccounts(of: client, clearData: clear).isEmpty)
            // The device's own account is none of them.
            let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)
            _ = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            #expect(try await notes.removeOwnAccounts(of: client, clearData: clear).isEmpty)
            #expect(try await notes.currentAccount().current?.id == FakePerson.worker.account)
        }
    }
}

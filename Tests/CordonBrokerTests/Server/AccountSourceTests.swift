import Cordon
import CordonBase
import CordonIdentity
import CordonSignIn
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker

/// An app under protection that asks for its account on a shared device (SI-089).
@Suite(.tags(.machineAlone), .timeLimit(.minutes(10))) struct AccountSourceTests {
    @Test func `no name means the device's account, and a sign-in where there is none`() async throws {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { _ in }
            let board = try SharedDeviceMode.patient(at: socket, clientID: "board") { _ in }
            let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)
            let pages = Locked(0)
            let provider = stand.provider
            func source(_ app: SharedDeviceMode) -> @Sendable (String?) async throws(SignInError) -> ManagedAccount {
                app.accountSource(
                    request,
                    browser: BrowserLauncher { page, _ in
                        pages.withLock { $0 += 1 }
                        return await provider.visit(page, as: .worker)
                    })
            }
            #expect(await board.signedInAccounts().isEmpty)
            let first = try await source(notes)(nil)
            #expect(await board.signedInAccounts() == [first])
            #expect(first.id == FakePerson.worker.account && pages.withLock { $0 } == 1)
            #expect(try await source(board)(nil).id == first.id)
            for name in ["Worker-A@contoso.example", FakePerson.worker.account.rawValue] {
                #expect(try await source(board)(name).id == first.id)
            }
            #expect(pages.withLock { $0 } == 1, "the person is asked once")
            await #expect(throws: SignInError(.accountMismatch, .mismatchedUser, "")) {
                try await source(board)(FakePerson.otherWorker.userName)
            }
        }
    }
}

import Cordon
import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonTesting
import Foundation
import Testing

/// SDK-EN-10, CQ-28: a person who is signed in already is not asked again.
@Suite(.timeLimit(.minutes(10))) struct SilentSignInTests {
    private let device: Device
    /// The names that the app's sign-in was called with.
    private let asked = Locked<[String?]>([])

    init() throws { device = try Device() }

    private func start(knowing accounts: [ManagedAccount]) async throws -> AppProtection {
        try await device.publish(["printBlocked": .bool(true)])
        await device.sessions.set { $0.known = accounts }
        let account = device.account
        return try await device.start { [asked] configuration in
            configuration.signIn = { name throws(SignInError) in
                asked.withLock { $0.append(name) }
                return account
            }
        }
    }

    private var other: ManagedAccount {
        ManagedAccount(id: "oid-b", tenant: device.account.tenant, userPrincipalName: "worker-b@contoso.example")
    }

    @Test(arguments: [nil, "worker-a@contoso.example", "OID-A"])
    func `a token that can be had silently is used before the person is asked`(name: String?) async throws {
        let app = try await start(knowing: name == nil ? [device.account] : [device.account, other])
        #expect(await app.signInAndEnroll(name) == .newPolicies)
        #expect(app.enrolledAccounts == [device.account])
        #expect(asked.withLock { $0.isEmpty })
        #expect(await device.service.registered.map(\.source) == [.loginAndEnroll])
    }

    @Test func `the person is asked where no token is to be had, or where several could be meant`() async throws {
        let app = try await start(knowing: [device.account])
        await device.sessions.set { $0.tokenFailure = HeldSessions.refusal }
        #expect(await app.signInAndEnroll() == .signInFailed)
        await device.sessions.set { ($0.tokenFailure, $0.known) = (nil, [self.device.account, self.other]) }
        #expect(await app.signInAndEnroll() == .newPolicies)
        #expect(asked.withLock { $0 } == [nil, nil])
    }

    @Test func `an account that is enrolled already is not taken for the one that signs in`() async throws {
        let app = try await start(knowing: [device.account])
        #expect(await app.enroll(device.account) == .newPolicies)
        #expect(await app.signInAndEnroll() == .alreadyEnrolled)
        #expect(asked.withLock { $0.count } == 1)
    }

    @Test func `a service that does not take the token has the person asked`() async throws {
        let app = try await start(knowing: [device.account])
        await device.service.set { $0.problem = ProblemDetails(title: "", status: 401, code: .authenticationRequired) }
        #expect(await app.signInAndEnroll() == .authenticationRequired)
        #expect(asked.withLock { $0.count } == 1)
    }
}

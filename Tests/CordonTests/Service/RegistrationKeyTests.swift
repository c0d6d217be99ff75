import Cordon
import CordonProtocol
import CordonSignIn
import Testing

/// A provider that binds no tokens, and a service that knows an app by its registration's own key.
@Suite(.timeLimit(.minutes(10))) struct RegistrationKeyTests {
    private func device(bindsTokens: Bool) async throws -> Device {
        let device = try Device(time: TestTime())
        await device.setServiceClock()
        try await device.publish(["printBlocked": .bool(true)])
        await device.service.set {
            $0.proof = .registration
            $0.tokenRequest = .init(scopes: ["api://check-in/mam.checkin"])
        }
        await device.sessions.set { $0.bindsTokens = bindsTokens }
        return device
    }

    @Test func `an app asks for what the service names, enrols with a fresh token, and sends it as it is`() async throws
    {
        let device = try await device(bindsTokens: false)
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .newPolicies)
        let first = try #require(await device.sessions.asked.first)
        #expect(first.scopes == ["api://check-in/mam.checkin"] && first.resource == "" && first.isFresh)
        #expect(await protection.checkIn(device.account.id).didSucceed)
        #expect(await device.sessions.asked.last?.isFresh == false, "only an enrolment needs a fresh one")
        #expect(await Set(device.service.schemes) == ["Bearer"])
    }

    @Test func `a token that is bound to a key says so, and one that cannot be renewed goes as it is`() async throws {
        let device = try await device(bindsTokens: true)
        await device.sessions.set {
            $0.freshFailure = SignInError(.interactionRequired, .invalidGrant, "the session cannot be renewed")
        }
        let protection = try await device.start()
        #expect(await protection.enroll(device.account) == .newPolicies)
        #expect(await device.sessions.asked.map(\.isFresh).prefix(2) == [true, false])
        #expect(await Set(device.service.schemes) == ["DPoP"])
    }
}

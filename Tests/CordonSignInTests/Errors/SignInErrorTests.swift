import CordonSignIn
import CordonTesting
import Foundation
import Testing

@Suite struct SignInErrorTests {
    @Test(
        arguments: [
            (SignInError.Code.interactionRequired, -50002), (.declinedScopes, -50003), (.cancelled, -50005),
            (.protectionRequired, -50004), (.deviceNotJoined, -50001), (.deviceNotShared, -50000),
            (.accountMismatch, -50000), (.ambiguousAccount, -50000), (.brokerUnavailable, -50000),
            (.brokerRefused, -50000), (.network, nil), (.serverBusy, -50006), (.server, -50006),
            (.configuration, -50000),
            (.storage, nil),
        ] as [(SignInError.Code, Int?)])
    func `every outcome has its documented code beside it`(code: SignInError.Code, expected: Int?) {
        #expect(code.msalCode == expected)
    }

    @Test func `codes that were hidden inside others are told apart`() {
        #expect(SignInError(.server, .insufficientDeviceStrength, "x").msalCode == -50007)
        #expect(SignInError(.server, .retryAfterEnrollment, "x").msalCode == -50008)
        #expect(SignInError(.server, .passwordResetRequired, "x").msalCode == -50142)
        #expect(SignInError(.ambiguousAccount, .ambiguousAccount, "x").msalInternalCode == -42102)
    }

    @Test func `an app can switch over all outcomes`() {
        for code in SignInError.Code.allCases {
            #expect(!SignInError(code, .invalidParameter, "something happened").hint.isEmpty)
        }
    }

    @Test func `no error text holds a code, token, verifier or user name`() async throws {
        let faults = FakeIdentityProviderFault.allCases
        for fault in faults {
            let fixture = try SignInFixture()
            await fixture.provider.setFaults([fault])
            let seen = PageRecorder()
            let provider = fixture.provider
            let browser = BrowserLauncher { page, _ in
                await seen.add(page)
                let answer = await provider.visit(page, as: .worker)
                if let answer { await seen.add(answer) }
                return answer
            }
            guard
                let error = await failure({
                    try await fixture.client().signIn(SignInFixture.request, browser: browser)
                })
            else { continue }
            let text = error.description + String(describing: error) + "\(error)"
            var secrets = await seen.queries.flatMap { [$0["code"], $0["state"], $0["nonce"]] }.compactMap { $0 }
            secrets += await fixture.provider.received.flatMap { [$0.parameters["code_verifier"]] }.compactMap { $0 }
            secrets.append("worker-a")
            for secret in secrets { #expect(!text.contains(secret), "\(fault): \(text)") }
        }
    }
}

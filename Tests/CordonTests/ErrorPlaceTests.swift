import CordonPolicy
import CordonProtocol
import CordonSignIn
import CordonVault
import Testing

@testable import Cordon

struct ErrorPlaceTests {
    @Test func `an error says where in the source it was made, and keeps that when it is passed on`() {
        let line = #line + 1
        let damaged = VaultError(.damaged, "The file is damaged.")
        #expect(damaged.thrownAt == "CordonTests/ErrorPlaceTests.swift:\(line)")
        #expect(ProtectionError(damaged).thrownAt == damaged.thrownAt)
        #expect(ProtectionError(.gateClosed, "closed").thrownAt.hasPrefix("CordonTests/ErrorPlaceTests.swift:"))
        #expect(ProtocolError(.expired, "old").thrownAt.hasPrefix("CordonTests/ErrorPlaceTests.swift:"))
        #expect(TransportError(.timedOut, reason: "late").thrownAt.hasPrefix("CordonTests/ErrorPlaceTests.swift:"))
        #expect(PolicyError(.wrongType, "no", at: "pin").thrownAt.hasPrefix("CordonTests/ErrorPlaceTests.swift:"))
        let program = ProgramError(.fileUnusable, reason: "gone", place: "a.pem")
        #expect(
            program.thrownAt.hasPrefix("CordonTests/ErrorPlaceTests.swift:") && program.description == "a.pem: gone")
    }

    @Test func `a printed error is one line of words, and shows nothing of how it is made`() {
        let denial = PolicyDecision(reasons: [
            PolicyReason(
                rule: .print, message: "Organisation data may not be printed.", remedy: "Read it on the screen.",
                verdict: .block)
        ])
        #expect(
            "\(ProtectionError(denied: denial))"
                == "denied: Organisation data may not be printed. Read it on the screen.")
        #expect(
            "\(ProtectionError(.gateClosed, "the PIN is due"))"
                == "gateClosed: the PIN is due. Pass the launch gate first.")
        #expect("\(ProtocolError(.expired, "old", hint: "Ask again."))" == "expired: old. Ask again.")
        #expect("\(TransportError(.timedOut, reason: "late"))" == "timedOut: late")
    }
}

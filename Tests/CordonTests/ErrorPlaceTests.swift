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
}

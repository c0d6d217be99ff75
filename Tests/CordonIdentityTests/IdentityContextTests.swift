import CordonIdentity
import Foundation
import Testing

/// The process identity is shared by the whole test process, so what touches it runs in a process of its own.
@Suite struct IdentityContextTests {
    private struct Stop: Error, Equatable {}

    @Test func `a scope sets the identity and restores the outer one, also when it throws`() throws {
        IdentityContext.with(.managed("a")) {
            #expect(IdentityContext.current == .managed("a"))
            #expect(throws: Stop()) {
                try IdentityContext.with(.personal) {
                    #expect(IdentityContext.current == .personal)
                    throw Stop()
                }
            }
            #expect(IdentityContext.current == .managed("a"))
        }
        #expect(IdentityContext.currentScope == nil)
    }

    @Test func `an asynchronous scope follows suspension, child tasks and task groups`() async throws {
        try await IdentityContext.with(.managed("a")) { () async throws(Stop) in
            await Task.yield()
            #expect(IdentityContext.current == .managed("a"))
            async let child = IdentityContext.current
            #expect(await child == .managed("a"))
            let seen = await withTaskGroup(of: EffectiveIdentity.self) { group in
                for _ in 0..<20 { group.addTask { IdentityContext.current } }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(seen == [.managed("a")])
        }
    }

    @Test func `a detached task has lost the identity, which is neither personal nor unset`() async {
        await #expect(processExitsWith: .success) {
            let detached = await IdentityContext.with(.managed("a")) {
                await Task.detached { IdentityContext.current }.value
            }
            #expect(detached == .lost)
        }
    }

    @Test func `a process identity covers work outside every scope and yields to a scope`() async {
        await #expect(processExitsWith: .success) {
            IdentityContext.setProcessIdentity(.managed("p"))
            #expect(IdentityContext.current == .managed("p"))
            let inside = IdentityContext.with(.personal) { IdentityContext.current }
            IdentityContext.setProcessIdentity(nil)
            #expect(inside == .personal)
            #expect(IdentityContext.current == .lost)
        }
    }

    @Test func `a process that never declared an identity is unset`() async {
        await #expect(processExitsWith: .success) {
            #expect(IdentityContext.current == .unset)
            IdentityContext.with(.personal) {}
            #expect(IdentityContext.current == .lost)
        }
    }
}

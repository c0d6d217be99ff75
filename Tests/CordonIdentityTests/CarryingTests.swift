import CordonIdentity
import Foundation
import Testing

/// What the language does not carry can be bound by hand, and what it does carry is carried everywhere.
@Suite struct CarryingTests {
    private struct Stop: Error, Equatable {}
    private actor Elsewhere {
        func identity() async -> EffectiveIdentity {
            await Task.yield()
            return IdentityContext.current
        }
    }

    @Test func `all four forms of a scope give back the result or the error of what they ran`() async throws {
        #expect(IdentityContext.with(.managed("a")) { 1 } == 1)
        #expect(throws: Stop()) { try IdentityContext.with(.managed("a")) { () throws(Stop) in throw Stop() } }
        #expect(await IdentityContext.with(.managed("a")) { await Elsewhere().identity() } == .managed("a"))
        await #expect(throws: Stop()) {
            try await IdentityContext.with(.managed("a")) { () async throws(Stop) in
                await Task.yield()
                throw Stop()
            }
        }
        #expect(IdentityContext.currentScope == nil)
    }

    @Test func `the identity follows into actors and back`() async {
        await IdentityContext.with(.managed("a")) {
            #expect(await Elsewhere().identity() == .managed("a"))
            await MainActor.run { #expect(IdentityContext.current == .managed("a")) }
            #expect(IdentityContext.current == .managed("a"))
        }
    }

    @Test func `the identity follows through an asynchronous sequence that another task feeds`() async {
        let (numbers, feed) = AsyncStream.makeStream(of: Int.self)
        let feeder = IdentityContext.with(.managed("feeder")) {
            Task {
                for number in 0..<10 {
                    feed.yield(number)
                    await Task.yield()
                }
                feed.finish()
            }
        }
        await IdentityContext.with(.managed("reader")) {
            for await _ in numbers { #expect(IdentityContext.current == .managed("reader")) }
        }
        await feeder.value
    }

    @Test func `a cancelled task keeps its identity until its end`() async {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let task = IdentityContext.with(.managed("a")) {
            Task {
                start.finish()
                while !Task.isCancelled { await Task.yield() }
                await Task.yield()
                return IdentityContext.current
            }
        }
        for await _ in started {}
        IdentityContext.with(.managed("b")) { task.cancel() }
        #expect(await task.value == .managed("a"))
    }

    @Test func `a task resumed by another's thread keeps its own identity`() async {
        let seen = await IdentityContext.with(.managed("a")) {
            await withCheckedContinuation { continuation in
                let thread = Thread { IdentityContext.with(.managed("b")) { continuation.resume() } }
                thread.start()
            }
            return IdentityContext.current
        }
        #expect(seen == .managed("a"))
    }

    @Test func `bound work runs under the identity of where it was bound, and puts the other one back`() {
        let bound = IdentityContext.with(.managed("a")) { IdentityContext.carrying { IdentityContext.currentScope } }
        IdentityContext.with(.managed("b")) {
            #expect(bound() == .managed("a"))
            #expect(IdentityContext.currentScope == .managed("b"))
        }
        let unbound = IdentityContext.carrying { IdentityContext.currentScope }
        IdentityContext.with(.managed("b")) { #expect(unbound() == nil) }
    }

    @Test func `a thread and a detached task get the identity that was bound`() async {
        let onThread = await withCheckedContinuation { continuation in
            IdentityContext.with(.managed("a")) {
                let bound = IdentityContext.carrying { continuation.resume(returning: IdentityContext.current) }
                Thread { bound() }.start()
            }
        }
        #expect(onThread == .managed("a"))
        let work = IdentityContext.with(.managed("a")) {
            IdentityContext.carrying { () async -> EffectiveIdentity in
                await Task.yield()
                return IdentityContext.current
            }
        }
        let detached = try? await Task.detached { try await work() }.value
        #expect(detached == .managed("a"))
    }

    @Test func `an account keeps the spelling it was first seen with`() {
        IdentityContext.with(.managed("First@Contoso.Example")) {}
        IdentityContext.with(.managed("first@contoso.example")) {
            #expect(IdentityContext.current.account?.rawValue == "First@Contoso.Example")
        }
    }
}

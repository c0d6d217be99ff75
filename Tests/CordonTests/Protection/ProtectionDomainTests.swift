import Testing

@testable import Cordon

@Suite(.timeLimit(.minutes(10))) struct ProtectionDomainTests {
    private protocol Part: Actor {
        func note(_ step: String) async
    }

    private actor Notes: Part {
        private let domain: ProtectionDomain
        private(set) var steps: [String] = []
        nonisolated var unownedExecutor: UnownedSerialExecutor { domain.unownedExecutor }

        init(_ domain: ProtectionDomain) { self.domain = domain }

        func note(_ step: String) { steps.append(step) }
    }

    private actor Caller {
        private let domain: ProtectionDomain
        private let parts: [any Part]
        nonisolated var unownedExecutor: UnownedSerialExecutor { domain.unownedExecutor }

        init(_ domain: ProtectionDomain, _ parts: [any Part]) {
            self.domain = domain
            self.parts = parts
        }

        /// Calls every part, while work waits for the executor that they share.
        func call() async {
            let waiting = Task { await self.callEach("waiting") }
            await callEach("first")
            await callEach("second")
            await waiting.value
        }

        private func callEach(_ step: String) async {
            for part in parts { await part.note(step) }
        }
    }

    @Test func `a part calls the parts of its domain without letting anything run in between`() async {
        let domain = ProtectionDomain()
        let parts = [Notes(domain), Notes(domain)]
        await Caller(domain, parts).call()
        for part in parts { #expect(await part.steps == ["first", "second", "waiting"]) }
    }
}

import CordonBase
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// What an app hears of the device's account while it runs (SI-003, SI-041, SI-066, SI-067).
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct FollowingTests {
    private struct Stuck: Error {}
    private let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)

    @Test func `an app whose clean-up fails still hears that the person left, and is asked again`() async throws {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let fails = Locked(true)
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { _ in
                if fails.withLock({ $0 }) { throw Stuck() }
            }
            let board = try SharedDeviceMode.patient(at: socket, clientID: "board") { _ in }
            var changes = notes.accountChanges().makeAsyncIterator()
            #expect(await changes.next()?.current == nil)
            _ = try await board.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            #expect(await changes.next()?.current?.id == FakePerson.worker.account)
            let out = Task { try await board.signOut() }
            let left = await changes.next()
            #expect(left?.current == nil && left?.owed.count == 1)
            #expect(left?.owed.first?.reason == .signedOut)
            fails.withLock { $0 = false }
            #expect(await changes.next()?.owed.isEmpty == true, "without another event")
            #expect(try await out.value.apps.first { $0.clientID == "notes" }?.outcome == .done)
        }
    }

    @Test func `a clean-up says why the person left and until when it is waited for`() async throws {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let seen = Locked<CleanUp?>(nil)
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { cleanUp in
                seen.withLock { $0 = cleanUp }
            }
            _ = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            _ = try await notes.signOut()
            let cleanUp = try #require(seen.withLock { $0 })
            #expect(cleanUp.account == FakePerson.worker.account && cleanUp.reason == .signedOut)
            #expect(cleanUp.deadline == stand.time.now + 10)
        }
    }

    @Test func `an app without a handler is told so once, and only on a shared device`() async throws {
        try await ServedBroker.serve { socket, stand in
            let words = Locked<[String]>([])
            func app(_ cleanUp: CleanUpHandler?) throws -> SharedDeviceMode {
                try SharedDeviceMode.patient(at: socket, clientID: "notes", cleanUp: cleanUp) { text in
                    words.withLock { $0.append(text) }
                }
            }
            _ = try await app(nil).deviceInformation()
            #expect(words.withLock { $0.isEmpty }, "the device is not shared yet")
            try await ServedBroker.join(socket, stand)
            let careless = try app(nil)
            for _ in 0..<2 {
                _ = try await careless.deviceInformation()
                _ = try await careless.refresh()
            }
            #expect(words.withLock { $0.count } == 1)
            let careful = try app { _ in }
            _ = try await careful.deviceInformation()
            _ = try await careful.refresh()
            #expect(words.withLock { $0.count } == 1)
        }
    }

    @Test func `fifty questions at once are all answered, and the first answer is there before the first screen`()
        async throws
    {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            // From the first call on, SI-030. A start that was slow is tried again: what else the machine does, or that it
            // stalls, is not the library's time.
            var number = 0
            try await until {
                number += 1
                let app = try SharedDeviceMode.patient(at: socket, clientID: "app-\(number)")
                let began = ContinuousClock.now
                #expect(try await app.deviceInformation().isShared)
                return ContinuousClock.now - began < .milliseconds(200)
            }
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes")
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        number.isMultiple(of: 2)
                            ? try await notes.deviceInformation().isShared
                            : try await notes.currentAccount().current == nil
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }
}

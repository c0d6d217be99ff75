import CordonBase
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

@testable import CordonBroker
@testable import CordonSignIn

/// Work that runs on while the device's account changes (SI-060, SI-072).
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct RunningWorkTests {
    private let request = SignInRequest(scopes: BrokerStand.scopes, resource: BrokerStand.resource)

    @Test func `an upload under way is stopped before the clean-up clears anything`() async throws {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let log = Locked<[String]>([])
            let upload = Locked<Task<Void, Never>?>(nil)
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { leaving in
                let running = upload.withLock { $0 }
                running?.cancel()
                await running?.value
                log.withLock { $0.append("stopped") }
                await leaving.workStopped()
                log.withLock { $0.append("cleared") }
                await leaving.dataCleared()
            }
            let board = try SharedDeviceMode.patient(at: socket, clientID: "board") { _ in }
            let following = Task { await notes.follow() }
            defer { following.cancel() }
            let signedIn = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            // Each part of the upload needs a token, as one to a server would.
            let work = Task {
                while !Task.isCancelled {
                    let token = try? await notes.accessToken(
                        for: signedIn.account.id, resource: BrokerStand.resource, scopes: BrokerStand.scopes)
                    if token != nil { log.withLock { $0.append("sent") } }
                }
            }
            upload.withLock { $0 = work }
            try await until { log.withLock { $0.contains("sent") } }
            let report = try await board.signOut()
            #expect(report.apps.first { $0.clientID == "notes" }?.outcome == .done)
            let story = log.withLock { $0 }
            #expect(story.suffix(2) == ["stopped", "cleared"], "nothing was sent once it was stopped")
        }
    }

    @Test func `work in the background asks who is here before its first byte, and stops for any other person`()
        async throws
    {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { _ in }
            let written = Locked<[UInt64]>([])
            /// What a system starts now and then: the session that it is for was remembered when it was planned.
            @Sendable func work(for session: UInt64) async {
                guard let now = try? await notes.refresh(), now.current != nil, now.session == session else { return }
                written.withLock { $0.append(session) }
            }
            let first = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            await work(for: first.session)
            _ = try await notes.signOut()
            await work(for: first.session)
            let next = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .otherWorker))
            await work(for: first.session)
            await work(for: next.session)
            #expect(written.withLock { $0 } == [first.session, next.session])
            let now = try await notes.currentAccount()
            #expect(now.began != nil && now.nonce.flatMap { Base64URL.decode($0) }?.count == 16)
        }
    }

    @Test func `work that began for one person gets nothing of the next one`() async throws {
        try await ServedBroker.serve { socket, stand in
            try await ServedBroker.join(socket, stand)
            let notes = try SharedDeviceMode.patient(at: socket, clientID: "notes") { _ in }
            let board = try SharedDeviceMode.patient(at: socket, clientID: "board") { _ in }
            let began = try await notes.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            let (goesOn, isReleased) = AsyncStream.makeStream(of: Void.self)
            let written = Locked<[String]>([])
            // Suspended in the middle: it hears of nothing and asks nothing until it goes on.
            let work = Task { () -> [SignInFault?] in
                for await _ in goesOn {}
                var faults: [SignInFault?] = []
                do throws(SignInError) {
                    written.withLock { $0.append("token") }
                    _ = try await notes.accessToken(
                        for: began.account.id, resource: BrokerStand.resource, scopes: BrokerStand.scopes)
                } catch {
                    written.withLock { _ = $0.removeLast() }
                    faults.append(error.fault)
                }
                do throws(SignInError) {
                    written.withLock { $0.append("key") }
                    _ = try await notes.sessionKey(for: began.account.id)
                } catch {
                    written.withLock { _ = $0.removeLast() }
                    faults.append(error.fault)
                }
                return faults
            }
            _ = try await board.signOut()
            let next = try await board.signIn(request, browser: stand.provider.browser(signingInAs: .otherWorker))
            #expect(next.session > began.session)
            isReleased.finish()
            #expect(await work.value == [.signedOut, .signedOut])
            #expect(written.withLock { $0 } == [])
            // The same person comes back: what began in the earlier session is of that session all the same.
            _ = try await board.signOut()
            _ = try await board.signIn(request, browser: stand.provider.browser(signingInAs: .worker))
            await #expect(throws: SignInError(.interactionRequired, .sessionChanged, "")) {
                try await notes.accessToken(
                    for: began.account.id, resource: BrokerStand.resource, scopes: BrokerStand.scopes)
            }
        }
    }
}

import CordonDemo
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// An enrolled app on a shared device: the notes of a session are no one's after it, whether or not the app ran when it ended.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct SharedDeviceNotesTests {
    private static let closed = "Your notes stay closed until the device's broker runs again."

    /// A shared device with an app for signing in and out, whose sign-in covers what the notes need.
    private static func begin(on stage: DemoStage) async throws -> (device: SharedDevice, board: AppSession) {
        _ = try await EnrolledWorker.publish(["printBlocked": .bool(true)], on: stage)
        let device = try await SharedDevice.begin(on: stage)
        let board = try await device.app("board", ["--resource", "api://cordon/check-in", "--scope", "mam.checkin"])
        return (device, board)
    }

    private static func notes(of device: SharedDevice) async throws -> AppSession {
        try await device.stage.managedApp("worker", ["--broker", device.broker.socket, "--development"])
    }

    /// Starts the notes while a worker is signed in; they are of that worker.
    private static func notes(of device: SharedDevice, for account: String) async throws -> AppSession {
        let app = try await notes(of: device)
        #expect(try await app.event("deviceAccount")["account"] == account)
        return app
    }

    /// Has an app refuse everything that could show something of a worker.
    private static func expectNothing(of account: String, _ name: String, in app: AppSession) async throws {
        for command in ["use \(name)", "use \(account)", "show plan", "copy plan"] {
            let answer = try await app.ask(command)
            #expect(answer.members["ok"]?.bool == false && answer["text"] == nil, "\(command): \(answer.members)")
        }
        for command in ["notes", "everyone"] {
            let answer = try await app.ask(command)
            #expect(answer.members["titles"]?.array?.isEmpty ?? true, "\(command): \(answer.members)")
            #expect(answer["text"]?.isEmpty ?? true, "\(command): \(answer.members)")
        }
    }

    @Test func `after a sign-out that the app did not see its notes open for no one, with the broker and without`()
        async throws
    {
        try await Programs.onStage { stage in
            let (joined, board) = try await Self.begin(on: stage)
            var device = joined
            let name = try stage.worker("a").name
            let first = try await device.signIn("a", in: board)
            var notes = try await Self.notes(of: device, for: first)
            #expect(try await notes.ask("note plan of the first shift").members["ok"]?.bool == true)
            // The control: started anew in the same session, the app shows them.
            await notes.end()
            notes = try await Self.notes(of: device, for: first)
            #expect(try await notes.ask("use \(name)").members["ok"]?.bool == true)
            #expect(try await notes.ask("show plan")["text"] == "of the first shift")
            await notes.end()
            _ = try await board.ask("sign-out")

            await stage.killBroker()
            notes = try await Self.notes(of: device)
            #expect(try await notes.ask("use \(name)")["hint"] == Self.closed)
            try await Self.expectNothing(of: first, name, in: notes)
            await notes.end()

            // The next worker types at once, and again when the app knows who is here.
            await board.forgetEvents("cleanedUp")
            device = try await device.restarted()
            // A broker that was killed has every app of the session before clean up once more, before anyone signs in.
            _ = try await board.event("cleanedUp")
            let second = try await device.signIn("b", in: board)
            notes = try await Self.notes(of: device)
            try await Self.expectNothing(of: first, name, in: notes)
            #expect(try await notes.event("deviceAccount")["account"] == second)
            try await Self.expectNothing(of: first, name, in: notes)
            await notes.end()
            _ = try await board.ask("sign-out")

            // Who comes back finds an empty place, also straight after an own session.
            for round in 1...2 {
                #expect(try await device.signIn("a", in: board) == first)
                notes = try await Self.notes(of: device, for: first)
                #expect(try await notes.ask("notes").members["titles"]?.array?.isEmpty == true, "round \(round)")
                #expect(try await notes.ask("note plan of round \(round)").members["ok"]?.bool == true)
                #expect(try await notes.ask("show plan")["text"] == "of round \(round)")
                await notes.end()
                _ = try await board.ask("sign-out")
            }
        }
    }

    @Test func `while the broker is away a worker's notes are closed, and within the session they come back`()
        async throws
    {
        try await Programs.onStage { stage in
            let (joined, board) = try await Self.begin(on: stage)
            var device = joined
            let first = try await device.signIn("a", in: board)
            var notes = try await Self.notes(of: device, for: first)
            #expect(try await notes.ask("note plan of the ward").members["ok"]?.bool == true)
            await stage.killBroker()
            for command in ["show plan", "notes", "note other text", "use \(first)"] {
                let answer = try await notes.ask(command)
                #expect(answer.members["ok"]?.bool == false && answer["hint"] == Self.closed, "\(answer.members)")
            }
            device = try await device.restarted()
            #expect(try await notes.ask("show plan")["text"] == "of the ward")
            await notes.end()

            // Started without the broker, the app has no key to open anything with.
            await stage.killBroker()
            notes = try await Self.notes(of: device)
            #expect(try await notes.ask("use \(first)")["hint"] == Self.closed)
            device = try await device.restarted()
            #expect(try await notes.event("deviceAccount")["account"] == first)
            #expect(try await notes.ask("show plan")["text"] == "of the ward")
        }
    }
}

internal import CordonLeakScan
public import CordonProtocol
public import Foundation

/// The demo: real processes, real sockets, real files; every step is measured and checked, nothing is only printed.
public actor DemoStory {
    /// What the story is told with.
    public struct Cast: Sendable {
        /// The tool `cordon`.
        public var cordon: URL
        /// The example app.
        public var app: URL
        /// Fixes the planted texts.
        public var seed: UInt64
        /// Where everything is kept meanwhile.
        public var folder: URL

        /// Names the programs, the seed and the folder.
        public init(cordon: URL, app: URL, seed: UInt64, folder: URL) {
            self.cordon = cordon
            self.app = app
            self.seed = seed
            self.folder = folder
        }
    }

    let cast: Cast
    let stage: DemoStage
    let scan: LeakScan

    // What earlier steps leave for later ones.
    var policyID = ""
    var account = ""
    var personalFiles: [String: Data] = [:]
    var notes: AppSession?

    /// Prepares a story; nothing runs yet.
    public init(_ cast: Cast) {
        self.cast = cast
        stage = DemoStage(cordon: cast.cordon, app: cast.app, folder: cast.folder)
        scan = LeakScan(count: 1_000, seed: cast.seed)
    }

    /// Tells the story step by step, and ends every process whatever happens.
    ///
    /// - Parameters:
    ///   - told: Called after each step.
    ///   - stay: Called at the end, while the service still runs; the service ends when it returns.
    /// - Throws: ``ProgramError`` when the stage breaks; an expectation that does not hold is part of the step.
    public func tell(
        _ told: @Sendable (DemoStep) -> Void, stay: (@Sendable (DemoConsole) async -> Void)? = nil
    ) async throws(ProgramError) -> [DemoStep] {
        var steps: [DemoStep] = []
        do {
            for act in Self.acts {
                var step = DemoStep(act.name, act.title)
                let began = ContinuousClock.now
                try await act.play(self, &step)
                step.milliseconds = (ContinuousClock.now - began).milliseconds
                told(step)
                steps.append(step)
            }
            if let stay {
                try await takePhones()
                let (name, password) = try stage.administratorsPassword()
                let address = try await stage.runningService().address.appending(path: "console")
                let browser = try await Person(name: name, password: password)
                    .visit(address, over: stage.transport)
                let door = try ConsoleDoor(cookie: await browser.cookie("cordon-console") ?? "", console: address)
                door.open()
                defer { door.close() }
                await stay(DemoConsole(address: address, link: door.link, name: name, password: password))
            }
        } catch {
            await stage.strike()
            throw error
        }
        await stage.strike()
        return steps
    }

    /// Gives each of two workers a phone with the app in use, so that the console has apps to show and to wipe.
    private func takePhones() async throws(ProgramError) {
        for letter: Character in ["a", "b"] {
            let app = try await stage.managedApp("phone-\(letter)", ["--device-name", "Phone of worker \(letter)"])
            _ = try await stage.signIn(try stage.worker(letter), in: app)
        }
    }

    /// The worker's app, started by an earlier step.
    func running() throws(ProgramError) -> AppSession {
        guard let notes else { throw ProgramError.stage("the worker's app does not run") }
        return notes
    }

    private struct Act: Sendable {
        let name: String
        let title: String
        let play: @Sendable (isolated DemoStory, inout DemoStep) async throws(ProgramError) -> Void
    }

    private static let acts: [Act] = [
        Act(name: "publish", title: "An administrator publishes rules") { story, step async throws(ProgramError) in
            try await story.publish(&step)
        },
        Act(name: "enroll", title: "A worker's account is enrolled; the personal one is left alone") {
            story, step async throws(ProgramError) in try await story.enroll(&step)
        },
        Act(name: "write", title: "Notes and a file are written") { story, step async throws(ProgramError) in
            try await story.write(&step)
        },
        Act(name: "raw-bytes", title: "The raw bytes are read without the key") {
            story, step async throws(ProgramError) in try await story.readRawBytes(&step)
        },
        Act(name: "refuse", title: "A paste into a personal note is refused, with the reason") {
            story, step async throws(ProgramError) in try await story.refuse(&step)
        },
        Act(name: "change", title: "A rule changes while the app runs") { story, step async throws(ProgramError) in
            try await story.change(&step)
        },
        Act(name: "hand-over", title: "A shared device goes from one worker to the next") {
            story, step async throws(ProgramError) in try await story.handOver(&step)
        },
        Act(name: "wipe", title: "One command removes the organisation's data and nothing else") {
            story, step async throws(ProgramError) in try await story.wipe(&step)
        },
        Act(name: "audit", title: "The audit log and the receipt in it are checked offline") {
            story, step async throws(ProgramError) in try await story.audit(&step)
        },
    ]
}

extension Duration {
    /// The duration in milliseconds.
    var milliseconds: Double {
        Double(components.seconds) * 1_000 + Double(components.attoseconds) / 1e15
    }
}

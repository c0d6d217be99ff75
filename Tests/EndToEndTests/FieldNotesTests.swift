import CordonBase
import CordonDemo
import CordonLeakScan
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// The example app as a person meets it: what it refuses, asks, and never does unasked.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct FieldNotesTests {
    /// Runs the app with nothing on its input; its exit status and what it said on standard error.
    private func run(_ arguments: [String]) async throws -> (status: Int32, errors: String) {
        let folder = TemporaryFolder.newPath()
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try ChildProcess(Programs.fieldNotes, ["--home", folder.path] + arguments)
        app.closeInput()
        for await _ in app.lines {}
        return (await app.wait(), await app.standardErrorTail)
    }

    @Test(arguments: [
        (["--service", "nonsense", "--pin", pin], "'nonsense' is not the address of a service"),
        (["--service", "127.0.0.1:8080", "--pin", pin], "is not the address of a service"),
        (["--service", "", "--pin", pin], "is not the address of a service"),
        (["--service", "https://", "--pin", pin], "is not the address of a service"),
        (["--service", "ftp://cordon.example", "--pin", pin], "is not the address of a service"),
        (["--service", "http://127.0.0.1:1", "--root-key", "AAAA"], "'AAAA' is not a root key's thumbprint"),
        (["--service", "http://127.0.0.1:1", "--pin", String(pin.dropLast()) + "="], "not a root key's thumbprint"),
        (["--service", "http://ada:secret@127.0.0.1:1", "--pin", pin], "has a name or a password in it"),
        (["--service", "http://127.0.0.1:1"], "--service needs --root-key"), (["--root-key", pin], "need --service"),
        (["--hom", "x"], "Unknown option"), (["--device-name", "a\u{1B}[31m"], #"do not show: a\u{1B}[31m"#),
    ])
    func `options that could only fail later are refused before anything is asked`(
        _ arguments: [String], _ words: String
    ) async throws {
        let (status, errors) = try await run(arguments)
        #expect(status == 2, "\(errors)")
        #expect(errors.contains(words) && !errors.contains("secret"), "\(errors)")
    }

    @Test func `an argument that is not known is shown, and no terminal obeys it`() async throws {
        let (status, errors) = try await run(["--hom\u{1B}[2J\u{202E}", "x"])
        #expect(status == 2 && !errors.unicodeScalars.contains("\u{1B}") && !errors.unicodeScalars.contains("\u{202E}"))
        #expect(errors.contains(#"--hom\u{1B}[2J\u{202E}"#), "\(errors)")
    }

    @Test func `a service of another root key is told before a sign-in page opens`() async throws {
        try await Programs.onStage { stage in
            let app = try await stage.managedApp("mistaken", ["--pin", pin])
            let answer = try await app.ask("sign-in")
            #expect(answer.members["ok"]?.bool == false, "\(answer.members)")
            #expect(answer["message"]?.contains("root key") == true, "\(answer.members)")
        }
    }

    @Test func `a command with wrong arguments names its usage, and a file that is not there is called that`()
        async throws
    {
        try await Programs.onStage { stage in
            let app = try await stage.personalApp("notes")
            for (line, usage) in [
                ("note", "note TITLE TEXT"), ("note X", "note TITLE TEXT"), ("use", "use NAME"), ("show", "show TITLE"),
                ("print", "print TITLE"), ("share Visit", "share TITLE INBOX"), ("save Visit", "save TITLE PLACE"),
                ("logs", "logs yes"), ("window", "window NAME"), ("quit now", "quit"), ("wipe a b", "wipe NAME"),
                ("background x", "from 1 to 1000"), ("background -3", "from 1 to 1000"),
                ("background 0", "from 1 to 1000"), ("background 99999999", "from 1 to 1000"),
            ] {
                let answer = try await app.ask(line)
                #expect(answer.members["ok"]?.bool == false, "\(line)")
                #expect(answer["command"] == line.split(separator: " ").first.map(String.init), "\(line)")
                #expect(answer["hint"]?.contains(usage) == true, "\(line): \(answer.members)")
            }
            #expect(try await app.ask("nonsense")["message"] == "there is no such command")
            #expect(try await app.ask("notes").members["titles"]?.array?.isEmpty == true, "nothing was written")
            #expect(try await app.ask("background 3").members["count"]?.integer == 3)
            for line in ["show nothing", "print nothing"] {
                let answer = try await app.ask(line)
                #expect(answer["message"] == "there is no note called nothing", "\(answer.members)")
                #expect(answer["hint"] == "Type `notes` for the titles.")
            }
        }
    }

    @Test func `nothing goes that was not named and agreed to, and a person's own notes never go`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(
                on: stage,
                rules: [
                    "saveAsBlocked": .bool(true), "allowedOutboundDataTransferDestinations": .string("managedApps"),
                ])
            let (app, name) = (worker.app, try stage.worker().name)
            try await app.ask("note plan the organisation's plan")
            #expect(
                try await app.ask("show nothing")["message"] == "there is no note called nothing", "sealed notes too")
            let exported = try await app.ask("export plan \(stage.folder.appending(path: "taken").path)")
            #expect(
                exported["message"]
                    == "Copies of organisation data may not be saved to a place that the organisation does not list.")
            try await app.ask("use personal")
            try await app.ask("note diary my own day")
            for line in ["sign-out", "sign-out yes", "sign-out personal yes", "wipe", "wipe yes", "wipe nobody yes"] {
                #expect(try await app.ask(line).members["ok"]?.bool == false, "\(line)")
            }
            for line in ["wipe \(name)", "sign-out \(name)"] {
                let asked = try await app.ask(line)
                #expect(asked.members["ok"]?.bool == false)
                #expect(asked["message"]?.contains(name) == true && asked["hint"]?.contains("\(line) yes") == true)
            }
            #expect(try await app.ask("show diary")["text"] == "my own day")
            try await app.ask("use \(name)")
            #expect(try await app.ask("wipe")["message"]?.contains(name) == true)
            #expect(try await app.ask("show plan")["text"] == "the organisation's plan")

            // An account that the rules keep off the screen is not what a bare `wipe` means.
            try await worker.change(["minimumRequiredAppVersion": .string("9.0")], on: stage)
            _ = try await app.event("hidden")
            #expect(try await app.ask("use \(name)").members["ok"]?.bool == false)
            let closed = try await app.ask("wipe yes")
            #expect(closed.members["ok"]?.bool == false && closed["hint"]?.contains("wipe \(name)") == true)
            #expect(try await app.ask("accounts").members["accounts"]?.array?.count == 1)

            #expect(try await app.ask("wipe \(name) yes").members["ok"]?.bool == true)
            #expect(try await app.ask("accounts").members["accounts"]?.array?.isEmpty == true)
            #expect(try await app.ask("show diary")["text"] == "my own day")
        }
    }

    @Test func `a personal title is the name of its file, and what is no note keeps none from being shown`()
        async throws
    {
        try await Programs.onStage { stage in
            let app = try await stage.personalApp("notes")
            #expect(try await app.ask("note a my own day").members["ok"]?.bool == true)
            for title in ["a\u{0}b", "a/\u{301}b", ".\u{301}a", "a/b"] {
                let refused = try await app.ask("note \(title) text")
                #expect(refused["message"]?.contains("a title has no slash") == true, "\(refused.members)")
            }
            let folder = stage.home(of: "notes").appending(path: "personal-notes")
            try FileManager.default.createDirectory(
                at: folder.appending(path: "folder"), withIntermediateDirectories: false)
            try Data("half".utf8).write(to: folder.appending(path: ".draft"))
            #expect(mkfifo(folder.appending(path: "pipe").path, 0o600) == 0)
            #expect(try await app.ask("notes").members["titles"]?.array?.compactMap(\.string) == ["a"])
            #expect(try await app.ask("everyone")["text"] == "a: my own day")
            for title in ["folder", "pipe"] {
                #expect(try await app.ask("show \(title)")["message"] == "there is no note called \(title)")
            }
            // Nor does the app wait for a pipe that is to be taken in, or that another program has put into its inbox.
            let inbox = stage.home(of: "notes").appending(path: "inbox")
            try FileManager.default.createDirectory(at: inbox, withIntermediateDirectories: true)
            #expect(mkfifo(inbox.appending(path: "pipe.json").path, 0o600) == 0)
            let pipe = folder.appending(path: "pipe").path
            for command in ["import \(pipe)", "open \(pipe) localDrive"] {
                #expect(try await app.ask(command)["message"] == "\(pipe) cannot be read")
            }
            #expect(try await app.ask("receive").members["left"] == .integer(0))
        }
    }

    @Test(arguments: [("wipe", "plan", false), ("sign-out", "plan", false), ("wipe", "diary", true)])
    func `what was copied from an account's notes leaves the clipboard with the account, and nothing else does`(
        _ command: String, _ copied: String, _ stays: Bool
    ) async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let (app, name) = (worker.app, try stage.worker().name)
            if stays { try await app.ask("use personal") }
            try await app.ask("note \(copied) a day")
            #expect(try await app.ask("copy \(copied)").members["ok"]?.bool == true)
            let clipboard = stage.clipboard.appending(path: "clipboard.json")
            let before = try String(contentsOf: clipboard, encoding: .utf8)
            #expect(before.contains(worker.account) != stays)
            #expect(try await app.ask("\(command) \(name) yes").members["ok"]?.bool == true)
            #expect((try? String(contentsOf: clipboard, encoding: .utf8)) == (stays ? before : nil))
        }
    }

    @Test func `the provider hears of a sign-out without a network at the next start with one`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let service = try await stage.runningService()
            await stage.killService()
            #expect(try await worker.app.ask("sign-out yes").members["ok"]?.bool == true)
            await worker.app.end()
            func waiting() throws -> Int {
                try LeakScan.files(below: stage.home(of: "worker").path).count { $0.hasSuffix(".revocation") }
            }
            #expect(try waiting() == 1)
            _ = try await stage.runningService(port: try #require(service.address.port))
            _ = try await stage.managedApp("worker")
            try await until(every: .milliseconds(25), within: .seconds(50)) { try waiting() == 0 }
        }
    }

    @Test func `a sign-out that leaves something behind is no success, and the next start ends it`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            try await worker.app.ask("note plan the organisation's plan")
            // A file lies where wipes are noted.
            let home = stage.home(of: "worker")
            let (notes, aside) = (home.appending(path: "protected/wipes"), home.appending(path: "aside"))
            try FileManager.default.moveItem(at: notes, to: aside)
            try Data().write(to: notes)
            let left = try await worker.app.ask("sign-out yes")
            #expect(left.members["ok"]?.bool == false, "\(left.members)")
            #expect(left["message"] == "Some of the account's data could not be removed yet.")
            await worker.app.end()
            try FileManager.default.removeItem(at: notes)
            try FileManager.default.moveItem(at: aside, to: notes)
            func sessions() throws -> Int {
                try LeakScan.files(below: home.appending(path: "tokens").path).count { $0.hasSuffix(".session") }
            }
            #expect(try sessions() == 1, "the control: something was left")
            _ = try await stage.managedApp("worker")
            try await until(every: .milliseconds(25), within: .seconds(50)) { try sessions() == 0 }
        }
    }

    @Test func `a person at the terminal is asked, and only yes removes anything`() async throws {
        try await Programs.onStage { stage in
            _ = try await EnrolledWorker.publish([:], on: stage)
            let app = try await stage.managedApp("worker", ["--asks"])
            let typing = Gate(app, pin: "2580").answering()
            defer { typing.cancel() }
            try await stage.signIn(try stage.worker(), in: app)
            let name = try stage.worker().name
            for reply in ["no", "", "YES"] {
                async let kept = app.ask("wipe")
                #expect(try await app.event("confirm")["text"]?.contains(name) == true)
                app.process.send(reply)
                let answer = try await kept
                #expect(answer["message"] == "nothing was removed")
            }
            async let gone = app.ask("sign-out")
            _ = try await app.event("confirm")
            app.process.send("yes")
            let left = try await gone
            #expect(left.members["ok"]?.bool == true)
            #expect(try await app.ask("accounts").members["accounts"]?.array?.isEmpty == true)
        }
    }

    @Test func `too many wrong PINs end with a fresh sign-in and a new PIN, and a command is not a guess`()
        async throws
    {
        try await Programs.onStage { stage in
            let policy = try await EnrolledWorker.publish(
                [
                    "pinRequired": .bool(true), "maximumPinRetries": .integer(2),
                    "appActionIfMaximumPinRetriesExceeded": .string("block"),
                ], on: stage)
            var app = try await stage.managedApp("worker", ["--asks"])
            var typing = Gate(app, pin: "2580").answering()
            let account = try #require(try await stage.signIn(try stage.worker(), in: app)["account"])
            try await app.ask("note plan the organisation's plan")
            typing.cancel()
            await app.end()

            // From here on a PIN is asked for whenever the account is opened.
            try await stage.administrator().change(policy, .object(["periodOnlineBeforeAccessCheck": .string("PT0S")]))
            app = try await stage.managedApp("worker", ["--asks"])
            _ = try await app.event("policyChanged")
            app.process.send("use \(account)")
            _ = try await Gate.heard("PIN of", in: app)
            for line in ["note A bc", "wipe", "show plan"] {
                app.process.send(line)
                _ = try await app.event("notAnAnswer")
            }
            app.process.send("quit")
            #expect(await app.process.wait() == 0, "`quit` leaves the app")

            app = try await stage.managedApp("worker", ["--asks"])
            app.process.send("use \(account)")
            _ = try await Gate.heard("PIN of", in: app)
            app.process.send("1111")
            let told = try await Gate.heard("Wrong PIN", in: app)
            #expect(told.contains("one try left"), "commands were no guesses: \(told)")
            _ = try await Gate.heard("PIN of", in: app)
            app.process.send("1111")
            _ = try await app.event("browser")
            // The word has no answer of its own; what it ends has.
            let givenUp = try await app.ask("cancel")
            #expect(givenUp["command"] == "use" && givenUp.members["ok"]?.bool == false, "\(givenUp.members)")
            app.process.send("use \(account)")
            _ = try await app.event("browser")
            app.process.send("quit")
            #expect(await app.process.wait() == 0, "`quit` leaves the app here too")

            // The PIN is used up. A password and a new PIN open the account, and nothing was lost.
            try await stage.administrator().change(policy, .object(["periodOnlineBeforeAccessCheck": .string("PT30M")]))
            app = try await stage.managedApp("worker", ["--asks"])
            _ = try await app.event("policyChanged")
            typing = Gate(app, pin: "1470").answering()
            let answer = try await stage.signIn(try stage.worker(), in: app, typing: "use \(account)")
            #expect(answer.members["ok"]?.bool == true, "\(answer.members)")
            #expect(try await app.ask("show plan")["text"] == "the organisation's plan")
            typing.cancel()
            await app.end()

            // The same with `sign-in`, for a person who does not know `use`.
            app = try await stage.managedApp("worker", ["--asks"])
            typing = Gate(app, pin: "1470").answering()
            let again = try await stage.signIn(try stage.worker(), in: app)
            #expect(again.members["ok"]?.bool == true, "\(again.members)")
            #expect(try await app.isManaged())
            typing.cancel()
        }
    }

    /// How a user has an app go by another clock than the machine's, or keeps it from telling.
    enum OtherClock: CaseIterable {
        case own
        case ownBelowAnEmptyFolder
        case ownBelowTheLinksOfAnother
        case machineNamedByAnotherFile

        /// Starts a program so; nil where that cannot be had.
        var command: [String]? {
            guard let unshare = Program.find("unshare") else { return nil }
            let options = ["--map-root-user", "--mount", "--fork", "--kill-child"]
            let clock = self == .machineNamedByAnotherFile ? [] : ["--time"]
            let mounts: String? =
                switch self {
                case .own: nil
                case .ownBelowAnEmptyFolder: "mount -t tmpfs none /proc/$$/ns"
                case .ownBelowTheLinksOfAnother: "mount --bind /proc/\(getpid())/ns /proc/$$/ns"
                case .machineNamedByAnotherFile:
                    "id=/proc/sys/kernel/random/boot_id; mount -t tmpfs none /mnt; cat $id >/mnt/id; mount --bind /mnt/id $id"
                }
            let shell = mounts.map { ["sh", "-c", $0 + " && exec \"$@\"", "sh"] } ?? []
            let command = options + clock + ["--"] + shell
            return (try? Program.run(unshare, command + ["true"]).status) == 0 ? [unshare] + command : nil
        }
    }

    @Test(
        .enabled(if: OtherClock.allCases.allSatisfy { $0.command != nil }, "needs time namespaces"),
        arguments: OtherClock.allCases)
    func `an app with a clock of its own, which its user may set, takes no time of the machine's for past`(
        clock: OtherClock
    ) async throws {
        try await Programs.onStage { stage in
            _ = try await EnrolledWorker.publish(
                ["pinRequired": .bool(true), "periodOnlineBeforeAccessCheck": .string("PT30M")], on: stage)
            var app = try await stage.managedApp("worker", ["--asks"])
            let typing = Gate(app, pin: "2580").answering()
            let account = try #require(try await stage.signIn(try stage.worker(), in: app)["account"])
            typing.cancel()
            await app.end()
            // The control: within the half hour no PIN is asked for.
            app = try await stage.managedApp("worker", ["--asks"])
            #expect(try await app.ask("use \(account)").members["ok"]?.bool == true)
            await app.end()
            app = try await stage.managedApp("worker", ["--asks"], by: try #require(clock.command))
            app.process.send("use \(account)")
            #expect(try await Gate.heard("PIN of", in: app).hasPrefix("PIN of"))
        }
    }

    @Test func `a note's title names no place outside the folder that it is printed to`() async throws {
        try await Programs.onStage { stage in
            let app = try await EnrolledWorker.begin(on: stage, rules: ["printBlocked": .bool(false)]).app
            for title in ["../escaped", "/escaped", "..", ".hidden", "a/b"] {
                #expect(try await app.ask("note \(title) text").members["ok"]?.bool == true)
                #expect(try await app.ask("print \(title)").members["ok"]?.bool == true)
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: stage.folder.appending(path: "paper").path).sorted()
                    == ["_.._escaped.txt", "_...txt", "_.hidden.txt", "_escaped.txt", "a_b.txt"].sorted())
        }
    }

    @Test func `what others wrote is shown in a terminal and never obeyed by it`() async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let hostile = "\u{1B}]52;c;aGk=\u{7}\u{9B}2J\u{202E}olleh"
        let file = folder.appending(path: "from-outside")
        try Data("first\n\(hostile)\r\nlast".utf8).write(to: file)
        let app = try ChildProcess(Programs.fieldNotes, ["--home", folder.path])
        for line in [
            "import \(file.path)", "show from-outside", "note \(hostile) text", "notes", "show \(hostile)x",
            "\(hostile)",
            "use \(hostile)", "browse \(hostile)", "quit",
        ] { app.send(line) }
        var shown = ""
        for await line in app.lines { shown += line + "\n" }
        #expect(await app.wait() == 0)
        #expect(shown.contains(#"\u{1B}]52;c;aGk=\u{7}\u{9B}2J\u{202E}olleh"#), "\(shown)")
        #expect(shown.contains("first\n") && shown.contains("\nlast"), "lines of a note stay lines")
        for character in ["\u{1B}", "\u{7}", "\u{9B}", "\u{202E}", "\r"] {
            #expect(!shown.unicodeScalars.contains(character.unicodeScalars.first ?? " "))
        }

        let tool = try ChildProcess(Programs.cordon, ["audit", "verify", "/nowhere/\(hostile)"])
        for await _ in tool.lines {}
        #expect(await tool.wait() == 3)
        #expect(await tool.standardErrorTail.contains(#"/nowhere/\u{1B}]52"#))
    }
}

/// What a root key's thumbprint looks like.
private let pin = String(repeating: "A", count: 43)

/// A person who answers what the launch gate asks in an app's terminal.
private struct Gate: Sendable {
    private let app: AppSession
    private let pin: String

    /// - Parameter pin: The PIN that is chosen, and typed when it is asked for.
    init(_ app: AppSession, pin: String) {
        self.app = app
        self.pin = pin
    }

    /// Answers until cancelled.
    func answering() -> Task<Void, any Error> {
        Task {
            while !Task.isCancelled, let text = try await app.event("protection")["text"] {
                if ["PIN of", "New PIN", "The same"].contains(where: text.hasPrefix) {
                    app.process.send(pin)
                } else if text.hasSuffix(":") {
                    app.process.send("1")
                }
            }
        }
    }

    /// The first line with a beginning that the gate shows; those before it are passed over.
    static func heard(_ beginning: String, in app: AppSession) async throws -> String {
        while let text = try await app.event("protection")["text"] {
            if text.hasPrefix(beginning) { return text }
        }
        throw ProgramError.stage("the gate shows lines without text")
    }
}

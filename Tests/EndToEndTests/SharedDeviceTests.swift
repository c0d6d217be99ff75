import CordonDemo
import CordonLeakScan
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// One device, its broker, the service, three app processes and two workers, all real processes (SI-081).
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct SharedDeviceTests {
    @Test func `sign in once, work in every app, sign out once, and the next worker finds nothing`() async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let status = try await device.tool.run(["status"])
            #expect(status.status == 0 && status.answer["mode"]?.string == "shared")
            let one = try await device.app("one")
            let two = try await device.app("two")
            let three = try await device.app("three", ["--suspended"])
            #expect(try await three.ask("look")["change"] == "nobody")

            let first = try await device.signIn("a", in: one)
            #expect(try await three.ask("look")["change"] == "firstSeen")
            #expect(try await three.ask("look")["change"] == "unchanged")
            let scan = LeakScan(count: 40, seed: 3)
            for app in [one, two, three] { try await app.ask("post \(scan.texts.joined(separator: " "))") }
            #expect(try await two.ask("show")["text"]?.contains(scan.texts[7]) == true)
            for name in ["one", "two", "three"] { #expect(try scan.leaks(below: stage.home(of: name)).texts == 0) }

            let out = try await two.ask("sign-out")
            #expect(out["keyDestroyed"] == "true")
            #expect(out["apps"] == "one=done three=notRunning two=done")
            #expect(try await one.ask("show").members["ok"]?.bool == false)
            // The app that was suspended hears nothing, and finds out when it comes back.
            let back = try await three.ask("look")
            #expect(back["change"] == "signedOut" && back["previous"] == first && back["owed"]?.isEmpty == false)
            let second = try await device.signIn("b", in: one)
            #expect(second != first)
            #expect(try await two.ask("show")["text"] == "")
            #expect(try await three.ask("show")["text"] == "", "it cleaned up before it showed anything")
            // And the fifth pair: from one worker straight to the next.
            try await one.ask("sign-out")
            try await device.signIn("a", in: one)
            let switched = try await three.ask("look")
            #expect(switched["change"] == "switched" && switched["current"] == first)
            for name in ["one", "two", "three"] {
                #expect(
                    try LeakScan.files(below: stage.home(of: name).path).allSatisfy {
                        !$0.contains("/remarks/") || name == "three"
                    })
            }
        }
    }

    @Test func `one gesture leads from an unused device to the work, in this app and in the next`() async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            let two = try await device.app("two")
            let answer = try await stage.signIn(try stage.worker("a"), in: one)
            #expect(answer["text"] == "", "the board itself, and no question before it")
            try await one.ask("post bed 7 is free")
            #expect(try await two.ask("show")["text"] == "", "no page and no question here either")
            // Who signs in once more is where they were.
            #expect(try await stage.signIn(try stage.worker("a"), in: one)["text"] == "bed 7 is free")
        }
    }

    @Test func `an app that stands still holds up no sign-out, and cleans up before it shows the next worker`()
        async throws
    {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage, options: ["--clean-up-time", "1"])
            let one = try await device.app("one")
            let two = try await device.app("two")
            try await device.signIn("a", in: one)
            let scan = LeakScan(count: 20, seed: 9)
            try await two.ask("post \(scan.texts.joined(separator: " "))")
            two.process.signal(SIGSTOP)
            let out = try await one.ask("sign-out")
            #expect(out["keyDestroyed"] == "true" && out["apps"] == "one=done two=late")
            try await device.signIn("b", in: one)
            #expect(try scan.leaks(below: stage.home(of: "two")).texts == 0, "sealed under a key that is gone")
            two.process.signal(SIGCONT)
            #expect(try await two.ask("show")["text"] == "")
            #expect(try LeakScan.files(below: stage.home(of: "two").path).allSatisfy { !$0.contains("/remarks/") })
        }
    }

    @Test func `a second broker on the same folder is refused, and the first one goes on`() async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let issuer = try #require(try await stage.runningService().announcement["issuer"]?.string)
            let folder = stage.folder.appending(path: "device")
            let second = try await Program.run(
                stage.cordon.path,
                [
                    "broker", "run", "--development", "--issuer", issuer,
                    "--socket", folder.appending(path: "other/b.sock").path,
                    "--data-directory", folder.appending(path: "data").path,
                ])
            #expect(second.status == 4 && second.everything.contains("another broker runs on"), "\(second.everything)")
            #expect(try await device.tool.run(["status"]).status == 0)
        }
    }

    @Test func `a sign-in says how long it waits, and one word ends it for that app alone`() async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let board = try await device.app("board")
            let notes = try await stage.managedApp("worker", ["--broker", device.broker.socket, "--development"])
            for (app, question) in [(board, "account"), (notes, "accounts")] {
                let asked = Task { try await app.ask("sign-in") }
                let minutes = try await app.event("browser").members["minutes"]
                #expect(minutes?.integer == 10 || minutes?.string == "10", "\(question)")
                // The word has no answer of its own; the question after it has.
                let after = Task { try await app.ask("cancel\n\(question)") }
                #expect(try await asked.value.members["ok"]?.bool == false, "\(question)")
                #expect(try await after.value.members["ok"]?.bool == true, "\(question)")
            }
            #expect(try await device.tool.run(["account"]).answer["current"] == nil)
            #expect(try await device.signIn("a", in: board).isEmpty == false)
        }
    }

    @Test func `joining takes the role, and nothing of the broker's folder is readable`() async throws {
        try await Programs.onStage { stage in
            let service = try await stage.runningService()
            let issuer = try #require(service.announcement["issuer"]?.string)
            let broker = try await stage.broker(issuer: issuer)
            let tool = DeviceTool(cordon: stage.cordon, socket: broker.socket, transport: stage.transport)
            #expect(try await tool.run(["status"]).status == 1)
            let refused = try await tool.run(["join"], as: try stage.worker("a"))
            #expect(refused.status == 4, "\(refused.words)")
            #expect(try await tool.run(["status"]).answer["registration"] == nil)
            #expect(try await tool.run(["join"], as: try stage.administratorsPassword()).status == 0)
            let signedIn = try await tool.run(["sign-in"], as: try stage.worker("b"))
            #expect(signedIn.status == 0, "\(signedIn.words)")
            let account = try await tool.run(["account"])
            let name = try #require(account.answer["current"]?["userPrincipalName"]?.string)
            #expect(name == (try stage.worker("b").name))
            for path in try LeakScan.files(below: stage.folder.appending(path: "device").path) {
                let bytes = try #require(FileManager.default.contents(atPath: path))
                #expect(bytes.range(of: Data(name.utf8)) == nil, "\(path)")
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
                #expect((mode?.intValue ?? 0o777) & 0o077 == 0, "\(path)")
            }
            #expect(try await tool.run(["sign-out"]).answer["hadAccount"]?.bool == true)
            #expect(try await tool.run(["leave"], as: try stage.administratorsPassword()).status == 0)
            #expect(try await tool.run(["status"]).status == 1)
        }
    }

    @Test func `the service lists the device and who is on it, and its release signs out and forgets`() async throws {
        try await Programs.onStage { stage in
            let service = try await stage.runningService()
            let device = try await SharedDevice.begin(
                on: stage,
                options: [
                    "--service", service.address.absoluteString, "--device-name", "Ward 3", "--report-interval", "1",
                ])
            let administrator = try await stage.administrator()
            /// The one device of the service's list, once it is as wanted.
            func listed(_ isWanted: (JSONValue) -> Bool) async throws -> JSONValue {
                var last = JSONValue.null
                try await until(every: .milliseconds(25)) {
                    let devices = try await administrator.sharedDevices()
                    last = devices.first ?? .null
                    return devices.count == 1 && isWanted(last)
                }
                return last
            }
            let id = try #require(try await listed { $0["account"] == nil }["id"]?.string)
            let status = try await device.tool.run(["status"]).answer
            #expect(status["registration"]?["deviceID"]?.string == id)
            let one = try await device.app("one")
            let account = try await device.signIn("a", in: one)
            #expect(try await listed { $0["account"]?.string == account }["name"] == "Ward 3")
            try await one.ask("sign-out")
            _ = try await listed { $0["account"] == nil }
            try await device.signIn("b", in: one)
            try await administrator.releaseDevice(id)
            try await until(every: .milliseconds(25)) {
                try await device.tool.run(["status"]).answer["missing"] == ["registration"]
            }
            #expect(try await one.ask("show").members["ok"]?.bool == false, "what the second worker left is gone")
            #expect(try await administrator.sharedDevices().isEmpty)
            let again = try await device.tool.run(["join"], as: try stage.administratorsPassword())
            #expect(again.status == 0, "\(again.words)")
            #expect(try await administrator.sharedDevices().first?["id"]?.string != id)
        }
    }

    @Test(arguments: ["work-stopped", "data-cleared", "done"])
    func `an app killed before a step of its clean-up finishes it at the next start`(step: String) async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage, options: ["--clean-up-time", "1"])
            let one = try await device.app("one")
            let two = try await device.app("two", ["--step"])
            try await device.signIn("a", in: one)
            try await two.ask("post something of the first worker")
            let steps = ["work-stopped", "data-cleared", "done"]
            for passed in steps.prefix(while: { $0 != step }) {
                try Data().write(to: stage.home(of: "two").appending(path: "pass-\(passed)"))
            }
            let out = Task { try await one.ask("sign-out") }
            var reached = false
            while !reached { reached = try await two.event("clean-up-step")["step"] == step }
            two.process.signal(SIGKILL)
            #expect(await two.process.wait() == -SIGKILL)
            #expect(try await out.value["apps"]?.contains("two=") == true)
            // No other worker gets into this app before that, whatever happens in between.
            try await device.signIn("b", in: one)
            for name in steps { try Data().write(to: stage.home(of: "two").appending(path: "pass-\(name)")) }
            let again = try await device.app("two", ["--suspended"])
            #expect(try await again.ask("look")["owed"]?.isEmpty == false)
            #expect(try await again.ask("show")["text"] == "")
            #expect(try await again.ask("look")["owed"] == "")
            #expect(
                try LeakScan.files(below: stage.home(of: "two").appending(path: "sessions").path)
                    .allSatisfy { !$0.contains("/remarks/") })
        }
    }

    @Test
    func `a broker killed while a worker is signed in keeps the session, and apps hear of what happened meanwhile`()
        async throws
    {
        try await Programs.onStage { stage in
            var device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            let account = try await device.signIn("a", in: one)
            try await one.ask("post before the crash")
            device = try await device.restarted()
            #expect(try await one.ask("look")["current"] == account)
            #expect(try await one.ask("show")["text"] == "before the crash")
            let two = try await device.app("two")
            await one.forgetEvents("account")
            try await two.ask("sign-out")
            var heard = false
            while !heard { heard = try await one.event("account")["current"] == "" }
            #expect(try await one.ask("show").members["ok"]?.bool == false)
        }
    }

    @Test func `what others put among an app's files ends no app, costs no remark and keeps none from being shown`()
        async throws
    {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            try await device.signIn("a", in: one)
            try await one.ask("post one")
            let sessions = stage.home(of: "one").appending(path: "sessions")
            let session = try #require(try FileManager.default.contentsOfDirectory(atPath: sessions.path).first)
            let remarks = sessions.appending(path: "\(session)/remarks")
            for name in ["9223372036854775807", "zz", ".draft", "10003", "10006"] {
                try Data("planted".utf8).write(to: remarks.appending(path: name))
            }
            try FileManager.default.createDirectory(
                at: remarks.appending(path: "10004"), withIntermediateDirectories: false)
            #expect(mkfifo(remarks.appending(path: "10005").path, 0o600) == 0)
            #expect(truncate(remarks.appending(path: "10006").path, 1 << 32) == 0)

            for text in ["two", "three"] { #expect(try await one.ask("post \(text)").members["ok"]?.bool == true) }
            #expect(try await one.ask("show")["text"] == "one\ntwo\n(a remark that cannot be read)\nthree")
            #expect(try await one.ask("sign-out")["apps"] == "one=done")
            #expect(try FileManager.default.contentsOfDirectory(atPath: sessions.path).isEmpty)
        }
    }

    @Test func `an ended session's folder that is put back shows the next person nothing and goes with them`()
        async throws
    {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            try await device.signIn("a", in: one)
            try await one.ask("post of the first person")
            let sessions = stage.home(of: "one").appending(path: "sessions")
            let session = try #require(try FileManager.default.contentsOfDirectory(atPath: sessions.path).first)
            let copy = stage.folder.appending(path: "copy")
            try FileManager.default.copyItem(at: sessions.appending(path: session), to: copy)
            try await one.ask("sign-out")
            try await device.signIn("b", in: one)
            try FileManager.default.copyItem(at: copy, to: sessions.appending(path: session))
            #expect(try await one.ask("show")["text"] == "")
            #expect(try await one.ask("sign-out")["apps"] == "one=done")
            #expect(try FileManager.default.contentsOfDirectory(atPath: sessions.path).isEmpty)
        }
    }

    @Test func `a broker killed at any moment of a sign-out or sign-in never mixes two people up`() async throws {
        try await Programs.onStage { stage in
            var device = try await SharedDevice.begin(on: stage, options: ["--clean-up-time", "1"])
            let one = try await device.app("one", ["--suspended"])
            let rounds = ProcessInfo.processInfo.environment["CORDON_DEEP"] == nil ? 6 : 60
            for round in 0..<rounds {
                _ = try? await one.ask("account")
                let before = try await one.ask("look")
                if before["current"] == "" { try await device.signIn(round.isMultiple(of: 2) ? "a" : "b", in: one) }
                let session = UInt64(try await one.ask("look")["session"] ?? "") ?? 0
                try await one.ask("post text of round \(round)")
                let out = Task { try await one.ask("sign-out") }
                try await Task.sleep(for: .microseconds(round * 700))
                device = try await device.restarted()
                _ = try? await out.value
                let now = try await one.ask("look")
                if now["current"] == "" {
                    #expect(UInt64(now["session"] ?? "") ?? 0 > session)
                    #expect(try await one.ask("show").members["ok"]?.bool == false)
                } else {
                    #expect(now["session"] == "\(session)", "the sign-out did not begin: the same session goes on")
                    let shown = try await one.ask("show")
                    #expect(shown["text"]?.contains("round \(round)") == true, "round \(round): \(shown.members)")
                    try await one.ask("sign-out")
                }
            }
        }
    }

    @Test func `with the provider gone a worker signs out, and the queue drains when it is back`() async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let port = try #require(try await stage.runningService().address.port)
            let one = try await device.app("one")
            try await device.signIn("a", in: one)
            await stage.killService()
            #expect(try await one.ask("sign-out")["keyDestroyed"] == "true")
            #expect(try await one.ask("account")["current"] == "")
            let tokens = stage.folder.appending(path: "device/data/tokens").path
            func waiting() throws -> Int {
                try LeakScan.files(below: tokens).count { $0.hasSuffix(".revocation") }
            }
            #expect(try waiting() >= 1)
            _ = try await stage.runningService(port: port)
            try await device.signIn("b", in: one)
            try await until(every: .milliseconds(25)) { try waiting() == 0 }
        }
    }

    @Test func `rapid switches are never read stale by another process`() async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            let other = try await device.app("two", ["--suspended"])
            let rounds = ProcessInfo.processInfo.environment["CORDON_DEEP"] == nil ? 10 : 1_000
            for round in 0..<rounds {
                let account = try await device.signIn(round.isMultiple(of: 2) ? "a" : "b", in: one)
                #expect(try await other.ask("account")["current"] == account)
                let out = try await one.ask("sign-out")
                let seen = try await other.ask("account")
                #expect(seen["current"] == "")
                #expect(UInt64(seen["session"] ?? "") ?? 0 >= UInt64(out["session"] ?? "") ?? .max)
            }
        }
    }

    @Test func `an enrolled app is unregistered and wiped while a token can still be had, and the next one enrols`()
        async throws
    {
        try await Programs.onStage { stage in
            _ = try await EnrolledWorker.publish(["printBlocked": .bool(true)], on: stage)
            let device = try await SharedDevice.begin(on: stage)
            let notes = try await stage.managedApp("worker", ["--broker", device.broker.socket, "--development"])
            let board = try await device.app("board")
            let first = try await stage.signIn(try stage.worker("a"), in: notes)
            #expect(first.members["status"]?.integer == 100, "\(first["message"] ?? "")")
            let scan = LeakScan(count: 20, seed: 5)
            try await notes.ask("note plan \(scan.texts.joined(separator: " "))")
            try await board.ask("post handed over soon")
            #expect(try await stage.administrator().registrations().count == 1)

            let out = try await board.ask("sign-out")
            #expect(out["apps"]?.contains("fieldnotes=done") == true, "\(out["apps"] ?? "")")
            _ = try await notes.event("leftDevice")
            #expect(try await notes.ask("use \(first["account"] ?? "")").members["ok"]?.bool == false)
            #expect(try await stage.administrator().registrations().isEmpty, "the service heard of it")
            #expect(
                try LeakScan.files(below: stage.home(of: "worker").appending(path: "protected/files").path).isEmpty)

            let second = try await stage.signIn(try stage.worker("b"), in: notes)
            #expect(second.members["status"]?.integer == 100, "\(second["message"] ?? "")")
            #expect(try await notes.ask("notes").members["titles"]?.array?.isEmpty == true)
            #expect(try await board.ask("show")["text"] == "")
            #expect(try scan.leaks(below: stage.folder).texts == 0)
        }
    }

    @Test
    func
        `a worker who signs in with one app is at work in one that enrols, at its start and while it runs, and nothing is personal`()
        async throws
    {
        try await Programs.onStage { stage in
            _ = try await EnrolledWorker.publish(["printBlocked": .bool(true)], on: stage)
            let device = try await SharedDevice.begin(on: stage)
            // The one sign-in covers what the other app needs.
            let board = try await device.app(
                "board", ["--resource", "api://cordon/check-in", "--scope", "mam.checkin"])
            let options = ["--broker", device.broker.socket, "--development"]
            let notes = try await stage.managedApp("worker", options)
            for command in ["note plan of nobody", "notes", "use personal"] {
                #expect(try await notes.ask(command).members["ok"]?.bool == false, "\(command)")
            }
            #expect(try await notes.ask("accounts")["current"] == "")
            let first = try await device.signIn("a", in: board)
            #expect(try await notes.event("deviceAccount")["account"] == first)
            #expect(try await notes.ask("note plan of the ward").members["ok"]?.bool == true)
            await notes.end()
            // Started while a worker is signed in.
            let again = try await stage.managedApp("worker", options)
            #expect(try await again.event("deviceAccount")["account"] == first)
            #expect(try await again.ask("show plan")["text"] == "of the ward")
            // Asked to sign in, it has no page to show: the device has the account.
            #expect(try await again.ask("sign-in").members["ok"]?.bool == true)
            _ = try await board.ask("sign-out")
            _ = try await again.event("leftDevice")
            #expect(try await again.ask("notes").members["ok"]?.bool == false)
        }
    }

    @Test func `who had enrolled in an app before the device was shared is gone from it at its next start`()
        async throws
    {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage)
            let scan = LeakScan(count: 20, seed: 7)
            try await worker.app.ask("note plan \(scan.texts.joined(separator: " "))")
            await worker.app.end()
            let device = try await SharedDevice.begin(on: stage)
            let again = try await stage.managedApp("worker", ["--broker", device.broker.socket, "--development"])
            #expect(try await again.event("leftDevice")["account"] == worker.account)
            #expect(try await again.ask("accounts").members["accounts"]?.array?.isEmpty == true)
            #expect(try await again.ask("use \(worker.account)").members["ok"]?.bool == false)
            let home = stage.home(of: "worker")
            #expect(try LeakScan.files(below: home.appending(path: "protected/files").path).isEmpty)
            try await until(every: .milliseconds(25)) {
                try LeakScan.files(below: home.appending(path: "tokens").path).allSatisfy {
                    !$0.hasSuffix(".session")
                }
            }
            // The next person's account is the device's.
            let second = try await stage.signIn(try stage.worker("b"), in: again)
            #expect(second.members["status"]?.integer == 100, "\(second["message"] ?? "")")
            #expect(try scan.leaks(below: stage.folder).texts == 0)
        }
    }

    @Test func `without the broker nothing is shown and no one is signed out, and afterwards all goes on`() async throws
    {
        try await Programs.onStage { stage in
            var device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            try await device.signIn("a", in: one)
            try await one.ask("post while it ran")
            #expect(try await one.ask("show")["text"] == "while it ran")
            await stage.killBroker()
            for command in ["show", "account", "sign-out"] {
                let answer = try await one.ask(command)
                #expect(answer.members["ok"]?.bool == false && answer["text"] == nil, "\(command)")
            }
            device = try await device.restarted()
            #expect(try await one.ask("show")["text"] == "while it ran")
            #expect(try await one.ask("sign-out")["keyDestroyed"] == "true")
        }
    }

    @Test func `an app's folder holds no token, whatever the app was given`() async throws {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let one = try await device.app("one")
            try await device.signIn("a", in: one)
            try await one.ask("post a remark")
            #expect(try await one.ask("token").members["ok"]?.bool == true)
            // Every token of this provider that an app gets begins as JSON Web Tokens do.
            func tokens() throws -> Int {
                try LeakScan.files(below: stage.home(of: "one").path)
                    .count { FileManager.default.contents(atPath: $0)?.range(of: Data("eyJ".utf8)) != nil }
            }
            #expect(try tokens() == 0)
            try Data("a planted eyJhbGciOi".utf8).write(to: stage.home(of: "one").appending(path: "planted"))
            #expect(try tokens() == 1)
        }
    }
}

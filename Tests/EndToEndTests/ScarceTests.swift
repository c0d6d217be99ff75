import CordonDemo
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// Programs that may open no more files, or have little memory (R6): who is connected is served, nothing that was acknowledged is lost, no
/// processor is kept busy by it, and all goes on once the limit is gone.
///
/// Swift's run time ends a process that has no memory left. So what is held there is what remains on the disk.
@Suite(
    .tags(.machineAlone), .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Program.python != nil && Program.find("prlimit") != nil, "needs python3 and util-linux's prlimit")
) struct ScarceTests {
    /// Takes a process's files away while one client is connected and another comes, then gives them back; what both heard, and how many
    /// milliseconds of a processor the process used in the quietest second in which the other waited in vain.
    ///
    /// The three standard streams are open in any process, so with no more than three nothing can be opened.
    private static let scarce = #"""
        import json, os, resource, socket, struct, sys
        kind, place, process = sys.argv[1], sys.argv[2], int(sys.argv[3])
        def frame(text): return struct.pack(">I", len(text)) + text.encode()
        if kind == "broker":
            first, second = frame('{"id":1,"verb":"hello","versions":[1],"clientID":"scarce"}'), frame('{"id":2,"verb":"device.info"}')
        else:
            first = second = b"GET /healthz HTTP/1.1\r\nHost: " + place.encode() + b"\r\n\r\n"
        def connect():
            if kind == "service":
                host, port = place.rsplit(":", 1)
                return socket.create_connection((host, int(port)))
            link = socket.socket(socket.AF_UNIX)
            link.connect(place)
            return link
        def hear(link, wait):
            link.settimeout(wait)
            try: return link.recv(65536).decode(errors="replace")
            except socket.timeout: return "nothing"
        def used():
            with open("/proc/%d/stat" % process) as stat: fields = stat.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        facts, known = {}, connect()
        known.sendall(first)
        facts["before"] = hear(known, 100)
        soft, hard = resource.prlimit(process, resource.RLIMIT_NOFILE)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (3, hard))
        fresh = connect()
        fresh.sendall(first)
        facts["busy"] = 1000000
        # Whatever else the process has to do ends.
        for _ in range(20):
            began = used()
            facts["meanwhile"] = hear(fresh, 1)
            facts["busy"] = min(facts["busy"], round(1000 * (used() - began)))
            if facts["meanwhile"] != "nothing" or facts["busy"] < 250: break
        known.sendall(second)
        facts["known"] = hear(known, 100)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (soft, hard))
        facts["fresh"] = hear(fresh, 100)
        print(json.dumps(facts))
        """#

    private func scarce(_ kind: String, at place: String, _ process: ChildProcess) async throws -> [String: JSONValue] {
        let run = try await Program.run(
            try #require(Program.python), ["-I", "-c", Self.scarce, kind, place, String(process.id)])
        let facts = try #require(try JSONValue(parsing: run.output).object, "\(run.everything)")
        #expect(facts["meanwhile"]?.string == "nothing", "\(facts)")
        // A loop that asks for the connection without end uses all of it.
        #expect(try #require(facts["busy"]?.integer) < 250, "\(facts)")
        return facts
    }

    @Test func `a broker without a descriptor left serves who is connected, rests, and takes who waits afterwards`()
        async throws
    {
        try await Programs.onStage { stage in
            let device = try await SharedDevice.begin(on: stage)
            let facts = try await scarce("broker", at: device.broker.socket, device.broker.process)
            #expect(facts["before"]?.string?.contains(#""hello""#) == true, "\(facts)")
            #expect(facts["known"]?.string?.contains(#""device""#) == true, "\(facts)")
            #expect(facts["fresh"]?.string?.contains(#""hello""#) == true, "\(facts)")
            #expect(try await device.tool.run(["status"]).status == 0)
        }
    }

    @Test func `a service without a descriptor left serves who is connected, rests, and takes who waits afterwards`()
        async throws
    {
        try await Programs.onStage { stage in
            let service = try await stage.runningService()
            let policy = try await EnrolledWorker.publish([:], on: stage)
            let place = "127.0.0.1:\(try #require(service.address.port))"
            let facts = try await scarce("service", at: place, service.process)
            for who in ["before", "known", "fresh"] {
                #expect(facts[who]?.string?.hasPrefix("HTTP/1.1 200") == true, "\(facts)")
            }
            try await stage.administrator().change(policy, .object(["displayName": .string("afterwards")]))
            #expect(try await stage.administrator().policy(policy)["displayName"]?.string == "afterwards")
        }
    }

    @Test func `a service whose memory runs out keeps what it acknowledged, whether it ends of it or not`() async throws
    {
        try await Programs.onStage { stage in
            let service = try await stage.runningService()
            let policy = try await EnrolledWorker.publish([:], on: stage)
            let administrator = try await stage.administrator()
            let status = try String(contentsOfFile: "/proc/\(service.process.id)/status", encoding: .utf8)
            let size = status.split(separator: "\n").first { $0.hasPrefix("VmSize:") }?
                .split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
            let limit = try #require(size) << 10
            try Program.succeed(
                "/usr/bin/env", ["prlimit", "--pid", String(service.process.id), "--as=\(limit):"])
            var last = 0
            for number in 1...60 {
                let name: JSONValue = .object(["displayName": .string("number \(number)")])
                guard (try? await administrator.change(policy, name)) != nil else { break }
                last = number
            }
            await stage.killService()
            _ = try await stage.runningService()
            let name = try await stage.administratorAgain().policy(policy)["displayName"]?.string
            // The write under way when it ended may have been kept without having been acknowledged.
            let expected = (last == 0 ? ["Test"] : ["number \(last)"]) + ["number \(last + 1)"]
            #expect(expected.contains(name ?? "none"), "\(last) were acknowledged")
        }
    }

    @Test func `a file is sealed whole or not at all, however little memory there is, and without a page to lock`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (note, keys) = (folder.appending(path: "note"), folder.appending(path: "keys").path)
        let text = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try text.write(to: note)
        func run(_ shell: String, _ words: [String]) async throws -> Program.Result {
            try await Program.run(
                "/bin/sh", ["-c", "\(shell); exec \"$@\"", "sh", Programs.cordon.path, "vault"] + words,
                environment: ["SWIFT_BACKTRACE": "enable=no"])
        }
        func isSealed(_ name: String, _ shell: String) async throws -> Bool {
            let target = folder.appending(path: name)
            let account = ["--account", "ada", "--keys", keys]
            let sealing = try await run(shell, ["seal"] + account + [note.path, target.path])
            guard sealing.status == 0, !sealing.wasSignalled else {
                #expect(!FileManager.default.fileExists(atPath: target.path), "\(shell): \(sealing.everything)")
                return false
            }
            let opening = try await run(":", ["open"] + account + [target.path, "-"])
            #expect(opening.output == text, "\(shell): \(opening.everything)")
            return true
        }
        #expect(try await isSealed("few", "ulimit -n 32"))
        // An administrator may lock pages whatever the limit is, unless that is taken from it.
        let unlocked = "ulimit -l 0" + (geteuid() == 0 ? "; set -- setpriv --bounding-set -ipc_lock \"$@\"" : "")
        if geteuid() != 0 || Program.find("setpriv") != nil { #expect(try await isSealed("unlocked", unlocked)) }
        var outcomes: [Bool] = []
        for mebibytes in [4_096, 512, 256, 192, 128, 96, 64, 24] {
            outcomes.append(try await isSealed("in-\(mebibytes)", "ulimit -v \(mebibytes << 10)"))
        }
        #expect(outcomes.first == true && outcomes.last == false, "\(outcomes)")
        #expect(try await isSealed("afterwards", ":"))
    }
}

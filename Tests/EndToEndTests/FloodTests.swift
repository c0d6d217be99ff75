import CordonDemo
import CordonPolicy
import CordonTestSupport
import CordonTesting
import Foundation
import Testing

/// A real program that opens connections to the broker's socket without pause, beside an app that wants to be served (R17).
@Suite(
    .tags(.machineAlone), .serialized, .timeLimit(.minutes(10)),
    .enabled(
        if: geteuid() == 0 && Program.python != nil,
        "needs python3, and an administrator counts another program's files")
) struct FloodTests {
    /// Greets and stays with six hundred connections, and makes and drops others without end, until a file says stop. It keeps the kernel's
    /// queue of the socket full.
    private static let flood = """
        import os, socket, struct, sys
        path, folder = sys.argv[1:3]
        def frame(text): return struct.pack(">I", len(text)) + text.encode()
        HELLO = frame('{"id":1,"verb":"hello","versions":[1,2],"clientID":"flood"}')
        held, made = [], 0
        while not os.path.exists(folder + "/stop"):
            link = socket.socket(socket.AF_UNIX)
            try:
                link.connect(path)
                link.setblocking(False)
                link.send(HELLO)
            except OSError:
                pass
            held.append(link)
            made += 1
            if made in (3000, 8000): open(folder + "/made-%d" % made, "w").close()
            if len(held) > 700: held.pop(600).close()
        """

    /// Connects and greets once; prints what it hears.
    private static let ask = """
        import socket, struct, sys
        link = socket.socket(socket.AF_UNIX)
        link.connect(sys.argv[1])
        text = '{"id":1,"verb":"hello","versions":[1,2],"clientID":"ask"}'
        try:
            link.sendall(struct.pack(">I", len(text)) + text.encode())
            print("heard", len(link.recv(4096)))
        except OSError:
            print("heard 0")
        """

    private func descriptors(of process: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    /// The process's resident memory, in KiB.
    private func memory(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
    }

    /// How many seconds of a processor the process has used.
    private func processorTime(of process: Int32) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let fields = try #require(text.split(separator: ")").last).split(separator: " ")
        let ticks = try #require(
            fields.count > 12 ? Double(fields[11]).flatMap { own in Double(fields[12]).map { own + $0 } } : nil)
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// A stage whose programs may open so many files as systemd and most shells let them.
    private func onStage(_ limit: String, _ work: (DemoStage) async throws -> Void) async throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let limited = folder.appending(path: "cordon")
        try Data("#!/bin/sh\nulimit \(limit)\nexec '\(Programs.cordon.path)' \"$@\"\n".utf8).write(to: limited)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: limited.path)
        let stage = DemoStage(cordon: limited, app: Programs.fieldNotes, folder: folder)
        do {
            try await work(stage)
        } catch {
            await stage.strike()
            throw error
        }
        await stage.strike()
    }

    /// - Parameter limit: What `ulimit` is told: a limit that a program may raise, and one that it may not.
    @Test(arguments: ["-S -n 1024", "-n 1024"])
    func `a program that connects to the broker without pause leaves others served, and memory and files bounded`(
        limit: String
    ) async throws {
        try await onStage(limit) { stage in
            let device = try await SharedDevice.begin(on: stage)
            let (broker, python) = (device.broker.process.id, try #require(Program.python))
            let (filesBefore, memoryBefore) = (try descriptors(of: broker), try memory(of: broker))
            let marks = stage.folder.appending(path: "marks")
            try FileManager.default.createDirectory(at: marks, withIntermediateDirectories: true)
            func hasMade(_ number: Int) -> Bool {
                FileManager.default.fileExists(atPath: marks.appending(path: "made-\(number)").path)
            }
            let flood = try ChildProcess(
                URL(filePath: python), ["-I", "-c", Self.flood, device.broker.socket, marks.path])
            do {
                try await until(every: .milliseconds(25)) { try hasMade(3_000) && descriptors(of: broker) > 500 }
                let full = try memory(of: broker)
                let (began, used) = (ContinuousClock.now, try processorTime(of: broker))
                // The control: the flood has the places that there are for its program, and gets no more.
                let same = try await Program.run(python, ["-I", "-c", Self.ask, device.broker.socket])
                #expect(same.text.contains("heard 0"), "\(same.everything)")
                for _ in 0..<4 {
                    try await until { try await device.tool.run(["status"]).status == 0 }
                }
                #expect(!FileManager.default.fileExists(atPath: marks.appending(path: "stop").path))
                try await until(every: .milliseconds(25)) { hasMade(8_000) }
                // What is turned away takes a share of the loop's time; a loop that is never done waits for its turn when others ask.
                let share = try (processorTime(of: broker) - used) / ((ContinuousClock.now - began) / .seconds(1))
                #expect(share < 0.7, "\(share) of a processor")
                let (files, later) = (try descriptors(of: broker), try memory(of: broker))
                // Two for each of 512 connections, and what the broker has open besides.
                #expect(files <= 2 * 512 + 100, "\(files) files")
                #expect(later - full < 16 << 10, "\(memoryBefore), \(full) and \(later) KiB")
                try await until { try await device.tool.run(["status"]).status == 0 }
            } catch {
                await flood.end()
                throw error
            }
            try Data().write(to: marks.appending(path: "stop"))
            #expect(await flood.wait() == 0)
            try await until(every: .milliseconds(25)) { try descriptors(of: broker) <= filesBefore + 4 }
            #expect(try await device.tool.run(["status"]).status == 0)
        }
    }

    /// Starts the service in a network that is no machine's but its own, where every address of 192.0.2.0/24 is this machine's and none is a
    /// loopback one. A child opens connections from one address without pause; requests come from another, and from the same.
    private static let service = #"""
        import fcntl, json, mmap, os, resource, signal, socket, struct, subprocess, sys, time
        def interface(call, name, rest):
            with socket.socket() as any: fcntl.ioctl(any, call, struct.pack("16s24s", name, rest))
        interface(0x8914, b"lo", struct.pack("h", 0x41))
        interface(0x8916, b"lo:1", struct.pack("H2s4s", socket.AF_INET, b"", socket.inet_aton("192.0.2.1")))
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
        service = subprocess.Popen(
            [sys.argv[1], "serve", "--listen", "192.0.2.1:0", "--public-url", "https://mam.example.org", "--no-console",
             "--issuer", "https://login.example.org", "--tenant", "contoso", "--data-directory", sys.argv[2]],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        said = next(json.loads(line) for line in service.stdout if line.startswith("{"))
        place = ("192.0.2.1", int(said["listening"].rsplit(":", 1)[1]))
        def files(): return len(os.listdir("/proc/%d/fd" % said["process"]))
        def memory():
            with open("/proc/%d/status" % said["process"]) as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
        def ask(source):
            try:
                with socket.create_connection(place, 100, (source, 0)) as link:
                    link.sendall(b"GET /healthz HTTP/1.1\r\nHost: mam.example.org\r\nConnection: close\r\n\r\n")
                    return link.recv(64).startswith(b"HTTP/1.1 200")
            except OSError:
                return False
        facts = {"alone": ask("192.0.2.2"), "before": files()}
        made = mmap.mmap(-1, 8)
        flood = os.fork()
        if flood == 0:
            held = []
            while True:
                link = socket.socket()
                # Ends at once when it is closed, so that the address never runs out of ports.
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                try:
                    link.bind(("192.0.2.3", 0))
                    link.connect(place)
                except OSError: pass
                held.append(link)
                made[:] = struct.pack("Q", struct.unpack("Q", made[:])[0] + 1)
                if len(held) > 600: held.pop(0).close()
        try:
            def reach(number):
                while struct.unpack("Q", made[:])[0] < number: time.sleep(0.01)
            reach(3000)
            full = memory()
            # The control: the flood fills what its address may have, so that one more of it is turned away.
            facts["sameIsRefused"] = any(not ask("192.0.2.3") for _ in range(500))
            facts["served"] = sum(ask("192.0.2.2") for _ in range(20))
            reach(13000)
            facts["files"], facts["grown"] = files(), memory() - full
            facts["servedLater"] = ask("192.0.2.2")
        finally:
            os.kill(flood, signal.SIGKILL)
            os.waitpid(flood, 0)
        end = time.monotonic() + 100
        while files() > facts["before"] + 8 and time.monotonic() < end: time.sleep(0.02)
        facts["after"] = files()
        service.terminate()
        facts["status"] = service.wait()
        print(json.dumps(facts))
        """#

    private static let hasNetworks = (try? Program.run("/usr/bin/env", ["unshare", "-n", "true"]).status) == 0

    @Test(.enabled(if: hasNetworks, "needs a network namespace"))
    func `a machine that connects to the service without pause leaves others served, and memory and files bounded`()
        async throws
    {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let run = try await Program.run(
            "/usr/bin/env",
            [
                "unshare", "-n", try #require(Program.python), "-I", "-c", Self.service, Programs.cordon.path,
                folder.appending(path: "data").path,
            ])
        let facts = try JSONValue(parsing: run.output)
        #expect(facts["alone"]?.bool == true && facts["sameIsRefused"]?.bool == true, "\(run.everything)")
        #expect(facts["served"]?.integer == 20 && facts["servedLater"]?.bool == true, "\(run.everything)")
        let (before, files) = (facts["before"]?.integer ?? 0, facts["files"]?.integer ?? .max)
        #expect(files <= before + 256 + 100, "\(run.everything)")
        #expect(facts["grown"]?.integer ?? .max < 16 << 10, "\(run.everything)")
        #expect(facts["after"]?.integer ?? .max <= before + 8 && facts["status"]?.integer == 0, "\(run.everything)")
    }
}

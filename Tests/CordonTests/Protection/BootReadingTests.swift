import CordonBase
import CordonTestSupport
import Foundation
import Testing

@testable import Cordon

/// Which start of the machine it is, and what two readings tell of the time between them.
struct BootReadingTests {
    private func reading(_ boot: String, _ uptime: Int) -> ClockReading {
        ClockReading(
            ProtectionClock(
                now: { Date(timeIntervalSince1970: 1_000) }, sleep: { _ in },
                boot: { BootReading(boot: boot, uptime: .seconds(uptime)) }))
    }

    #if os(Linux)
        @Test func `a machine's start is named by the kernel's own files and by no copy of them`() throws {
            let said = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            let name = said.trimmingCharacters(in: .whitespacesAndNewlines)
            let copy = try TemporaryFolder.make()
            defer { TemporaryFolder.remove(copy) }
            for folder in ["sys/kernel/random", "self/ns"] {
                try FileManager.default.createDirectory(
                    at: copy.appending(path: folder), withIntermediateDirectories: true)
            }
            try Data(said.utf8).write(to: copy.appending(path: "sys/kernel/random/boot_id"))
            try FileManager.default.createSymbolicLink(
                atPath: copy.appending(path: "self/ns/time").path, withDestinationPath: "time:[4026531834]")
            #expect(KernelFolder.machineStart(below: copy.path) == nil)
            #expect(KernelFolder.machineStart(below: "/proc/sys") == nil, "a part of it is not the whole")
            #expect(KernelFolder.machineStart(below: copy.path + "/none") == nil)
            // Nil where these tests run in a time namespace, or below a mount over the file.
            #expect([name, nil].contains(KernelFolder.machineStart()))
            let current = BootReading.current
            #expect(current.isOfMachine == (KernelFolder.machineStart() != nil))
            #expect(BootReading.current.boot == current.boot && BootReading.current.uptime >= current.uptime)
        }
    #endif

    @Test(arguments: ["process 2", "boot time:[4026532178]"])
    func `an uptime that is not the machine's says nothing of the time since another process`(own: String) {
        #expect(reading("boot 1", 5).atLeast(until: reading(own, 900_000)) == .zero)
        #expect(reading("boot", 5).atLeast(until: reading(own, 900_000)) == .zero)
        #expect(reading(own, 5).atLeast(until: reading("boot", 900_000)) == .zero)
        #expect(reading(own, 5).atLeast(until: reading(own, 8)) == .seconds(3))
        #expect(reading("boot", 5).atLeast(until: reading("another", 7)) == .seconds(7), "the control: a restart")
    }

    @Test func `a process that cannot tell the machine's start adds its own time, and none of the machine's`() {
        var run = RunTime(reading("process 1", 0))
        run.note(reading("process 1", 60))
        run.note(reading("process 2", 0))
        run.note(reading("process 2", 60))
        #expect(run.total == (60 + 300 + 60) * 1000)
        // The machine has been up for days, which nothing tells from the time before.
        run.note(reading("boot", 900_000))
        #expect(run.total == (60 + 300 + 60 + 300) * 1000)
        run.note(reading("boot", 900_060))
        #expect(run.total == (60 + 300 + 60 + 300 + 60) * 1000)
        #expect(run.isPlausible)
        run.note(reading("after", 100))
        #expect(run.total == (60 + 300 + 60 + 300 + 60 + 300 + 100) * 1000, "a restart that can be told")
    }
}

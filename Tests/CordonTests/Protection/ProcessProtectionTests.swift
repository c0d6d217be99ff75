#if os(Linux)
    import Cordon
    import CordonTestSupport
    import Foundation
    import Testing

    struct ProcessProtectionTests {
        @Test func `a protected app leaves no core file and cannot be read by other programs of its user`() async throws
        {
            // In a process of its own, which it changes for good.
            await #expect(processExitsWith: .success) {
                let readable =
                    try FileManager.default.attributesOfItem(atPath: "/proc/self/mem")[.ownerAccountID] as? Int
                #expect(readable == Int(geteuid()), "the control: before, the process is its user's")
                #expect(!ProcessProtection.apply().contains(.memoryDumped))
                let limits = try String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
                let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
                #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            }
        }

        private static let victimVariable = "CORDON_TEST_FAULT_VICTIM"

        /// Runs only as the child process of the test below, which it ends.
        @Test(.enabled(if: ProcessInfo.processInfo.environment[victimVariable] != nil, "runs only as a child process"))
        func `the victim of a signal is protected first`() throws {
            let number = try #require(ProcessInfo.processInfo.environment[Self.victimVariable].flatMap { Int32($0) })
            // A script's background has what is started in it ignore SIGQUIT, for which the run time then has no handler.
            var action = sigaction()
            if sigaction(number, nil, &action) == 0,
                withUnsafeBytes(of: action, { $0.load(as: UInt.self) }) == unsafeBitCast(SIG_IGN, to: UInt.self)
            {
                signal(number, SIG_DFL)
                execv("/proc/self/exe", CommandLine.unsafeArgv)
            }
            signal(SIGFPE) { _ in _exit(9) }
            #expect(!ProcessProtection.apply().contains(.memoryDumped))
            // Threads of a pool keep signals back, and so do the processes that they start.
            var raised = sigset_t()
            sigemptyset(&raised)
            sigaddset(&raised, number)
            pthread_sigmask(SIG_UNBLOCK, &raised, nil)
            raise(number)
            _exit(7)
        }

        @Test(.enabled(if: Program.canRunTests, "needs /proc"))
        func `no registers are written of a protected app that a signal ends, and the app's own handlers stay`()
            async throws
        {
            func run(_ number: Int32) async throws -> Program.Result {
                try await Program.runTest(
                    "the victim of a signal",
                    environment: [Self.victimVariable: String(number), "SWIFT_BACKTRACE": "enable=yes"])
            }
            for number in [SIGQUIT, SIGTRAP, SIGSEGV] {
                let ended = try await run(number)
                #expect(ended.wasSignalled && ended.status == number, "\(ended.everything)")
                #expect(!ended.everything.contains("Registers:"))
            }
            let handled = try await run(SIGFPE)
            #expect(!handled.wasSignalled && handled.status == 9, "\(handled.everything)")
        }
    }
#endif

#if os(Linux)
    import CordonTestSupport
    import Foundation
    import Testing

    @testable import Cordon

    /// The way to the kernel's device of a TPM, which takes a command in one write and then gives its answer.
    struct TPMChannelTests {
        @Test func `a process without a standard input asks the device like any other`() async {
            await #expect(processExitsWith: .success) {
                let folder = try TemporaryFolder.make()
                defer { TemporaryFolder.remove(folder) }
                let device = folder.appending(path: "tpm")
                let answer: [UInt8] = [0x80, 0x01, 0, 0, 0, 10, 0, 0, 0, 7]
                // In a file the answer lies behind the place of the command.
                try Data([UInt8](repeating: 0, count: 12) + answer).write(to: device)
                close(STDIN_FILENO)
                try #require(TPMChannel(path: device.path).answer(to: [UInt8](repeating: 1, count: 12)) == answer)
            }
        }
    }
#endif

import CordonDemo
import CordonTestSupport
import Foundation
import Testing

/// A thumbprint is base64url text, so one in 64 begins with a dash and must not be taken for an option.
@Suite(.tags(.machineAlone)) struct PinTests {
    private let dashed = "-" + String(repeating: "A", count: 42)

    @Test func `the example app takes a pin that begins with a dash`() async throws {
        let folder = TemporaryFolder.newPath()
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try ChildProcess(
            Programs.fieldNotes,
            ["--home", folder.path, "--service", "http://127.0.0.1:1", "--pin", dashed])
        for await _ in app.lines {}
        #expect(await app.wait() == 3, "the service does not answer, which is another matter")
        let told = await app.standardErrorTail
        #expect(told.contains("no service answers") && told.contains("the connection was refused"))
    }

    @Test func `cordon audit verify takes a pin that begins with a dash`() async throws {
        let process = try ChildProcess(Programs.cordon, ["audit", "verify", "/nowhere/export", "--pin", dashed])
        for await _ in process.lines {}
        #expect(await process.wait() == 3)
    }
}

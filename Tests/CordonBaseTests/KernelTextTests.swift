import Foundation
import Testing

@testable import CordonBase

struct KernelTextTests {
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/maps"), "needs /proc"))
    func `a text of the kernel is read to its end, also where it is longer than a page`() throws {
        let text = try #require(KernelText.contents(of: "/proc/self/maps"))
        #expect(text.utf8.count > 8192, "a program with Swift's libraries maps more than a hundred regions")
        #expect(text.hasSuffix("\n"))
        // The kernel's own page for system calls is the last region of all on the machines that have one; the stack otherwise.
        #expect(text.split(separator: "\n").suffix(4).contains { $0.hasSuffix("[stack]") || $0.hasSuffix("[vdso]") })
    }

    @Test func `a text that is not there is none`() {
        #expect(KernelText.contents(of: "/proc/self/no-such-text") == nil)
    }
}

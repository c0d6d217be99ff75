import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct PatchExplanationTests {
    private let patcher = FrameworkPatcher(names: .intuneCompatible)

    /// The byte ranges that an explanation names.
    private func ranges(_ lines: [String]) -> [ClosedRange<Int>] {
        lines.compactMap { line in
            guard let match = line.firstMatch(of: /^bytes (\d+)-(\d+):/), let start = Int(match.1),
                let end = Int(match.2)
            else { return nil }
            return start...end
        }
    }

    @Test func `what patching cannot reach is said`() {
        let text = FrameworkPatcher.limits.joined(separator: " ")
        for word in ["system frameworks", "Objective-C methods", "symbols looked up at run time"] {
            #expect(text.contains(word), "\(word)")
        }
    }

    @Test(arguments: [FrameworkPatcher.Action.install, .remove])
    func `every changed byte lies in a range that is explained`(action: FrameworkPatcher.Action) throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("App", lab.data(lab.executable))
        if action == .remove { try AtomicWriter.write(patcher.plan(.install, file).changes) }
        let before = try Data(contentsOf: file)
        let plan = try patcher.plan(action, file)
        try AtomicWriter.write(plan.changes)
        let after = try Data(contentsOf: file)
        let lines = try #require(plan.images.first).explanation
        let explained = ranges(lines)
        let changed = before.indices.filter { before[$0] != after[$0] }
        #expect(!changed.isEmpty && explained.count >= 4, "\(lines)")
        for byte in changed { #expect(explained.contains { $0.contains(byte) }, "byte \(byte) of \(lines)") }
    }

    @Test func `nothing is explained where nothing changes`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("App", lab.data(lab.executable))
        #expect(try patcher.plan(.verify, file).images.allSatisfy { $0.explanation.isEmpty })
    }
}

import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct ThinnerTests {
    @Test func `a thinned file equals what llvm-lipo writes`() throws {
        let lab = try MachOLab.get()
        for source in [lab.fat, lab.fat64] {
            for arch in ["arm64", "x86_64"] {
                let scratch = try Scratch()
                let mine = try scratch.file("mine", lab.data(source))
                let other = scratch.folder.appendingPathComponent("other")
                try Program.succeed(MachOLab.lipo ?? "", [source.path, "-thin", arch, "-output", other.path])
                let plan = try Thinner.plan(mine, ThinRequest(kept: [try #require(CPUType(named: arch))]))
                try AtomicWriter.write(plan.changes)
                #expect(try Data(contentsOf: mine) == Data(contentsOf: other))
            }
        }
    }

    @Test func `device is decided by platform, not by processor`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("armsim", lab.data(lab.armSimulatorLibrary))
        #expect(throws: AppToolsError(.refused, "")) { try Thinner.plan(file, ThinRequest(side: .device)) }
    }

    @Test func `a thin file that is wanted is left alone, also its time`() throws {
        let lab = try MachOLab.get()
        let plan = try Thinner.plan(
            lab.library, ThinRequest(side: .device, removed: [try #require(CPUType(named: "i386"))]))
        #expect(plan.changes.isEmpty)
        #expect(plan.findings.map(\.code) == ["TH-ABSENT"])
    }

    @Test func `the fat header stays when asked for, and equals llvm-lipo's`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let mine = try scratch.file("mine", lab.data(lab.fat))
        let other = scratch.folder.appendingPathComponent("other")
        try Program.succeed(MachOLab.lipo ?? "", [lab.fat.path, "-extract", "arm64", "-output", other.path])
        try AtomicWriter.write(Thinner.plan(mine, ThinRequest(side: .device, keepsFat: true)).changes)
        #expect(try Data(contentsOf: mine) == Data(contentsOf: other))
    }

    @Test func `every code file of a bundle is thinned, or none`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let first = try scratch.file("App.app/Frameworks/Demo.framework/Demo", lab.data(lab.fat))
        _ = try scratch.file("App.app/note.txt", "no code")
        let app = scratch.folder.appendingPathComponent("App.app")
        #expect(try Thinner.plan(app, ThinRequest(side: .device)).changes.map(\.url.lastPathComponent) == ["Demo"])
        _ = try scratch.file("App.app/Frameworks/Sim.framework/Sim", lab.data(lab.simulatorLibrary))
        #expect(throws: AppToolsError(.refused, "")) { try Thinner.plan(app, ThinRequest(side: .device)) }
        #expect(try Data(contentsOf: first) == lab.data(lab.fat))
    }

    @Test func `a second run changes nothing`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("Demo", lab.data(lab.fat))
        #expect(try AtomicWriter.write(Thinner.plan(file, ThinRequest(side: .device)).changes).count == 1)
        let before = try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
        #expect(try AtomicWriter.write(Thinner.plan(file, ThinRequest(side: .device)).changes).isEmpty)
        let after = try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
        #expect(before == after)
    }
}

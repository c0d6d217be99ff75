import CordonTestSupport
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
        let link = scratch.folder.appendingPathComponent("Link.app")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: app)
        #expect(try Thinner.plan(link, ThinRequest(side: .device)).changes.count == 1)
        _ = try scratch.file("App.app/Frameworks/Sim.framework/Sim", lab.data(lab.simulatorLibrary))
        #expect(throws: AppToolsError(.refused, "")) { try Thinner.plan(app, ThinRequest(side: .device)) }
        #expect(try Data(contentsOf: first) == lab.data(lab.fat))
    }

    @Test func `an xcframework keeps the libraries of one side`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        func entry(_ name: String, _ variant: String?) -> PropertyListValue {
            var entry: PropertyListDictionary = [
                "LibraryIdentifier": .string(name), "SupportedPlatform": .string("ios"),
            ]
            entry["SupportedPlatformVariant"] = variant.map { .string($0) }
            return .dictionary(entry)
        }
        let info: PropertyListValue = .dictionary([
            "AvailableLibraries": .array([entry("ios-arm64_x86_64-simulator", "simulator"), entry("ios-arm64", nil)])
        ])
        _ = try scratch.file("D.xcframework/Info.plist", XMLPropertyListWriter().document(info))
        _ = try scratch.file("D.xcframework/ios-arm64/Demo", lab.data(lab.fat))
        _ = try scratch.file("D.xcframework/ios-arm64_x86_64-simulator/Demo", lab.data(lab.simulatorLibrary))
        let framework = scratch.folder.appendingPathComponent("D.xcframework")
        var request = ThinRequest(side: .device)
        let plain = try Thinner.plan(framework, request)
        #expect(plain.changes.map(\.url.lastPathComponent) == ["Demo"])
        #expect(plain.removals.isEmpty)
        request.slims = true
        let plan = try Thinner.plan(framework, request)
        #expect(plan.removals.map(\.lastPathComponent) == ["ios-arm64_x86_64-simulator"])
        try AtomicWriter.write(plan.changes)
        let left = try PropertyList(contentsOf: framework.appendingPathComponent("Info.plist")).value
        #expect(left["AvailableLibraries"]?.array?.map { $0["LibraryIdentifier"]?.string } == ["ios-arm64"])
        #expect(try Thinner.plan(framework, request).changes.isEmpty)
        request.side = .simulator
        #expect(throws: AppToolsError(.refused, "")) { try Thinner.plan(framework, request) }
        for name in [".", "..", "a/b", "../\u{301}b"] {
            let list: PropertyListValue = .dictionary(["AvailableLibraries": .array([entry(name, "simulator")])])
            _ = try scratch.file("D.xcframework/Info.plist", XMLPropertyListWriter().document(list))
            #expect(throws: AppToolsError(.malformed, ""), "\(name)") { try Thinner.plan(framework, request) }
        }
    }

    @Test func `what the store refuses is cleaned out of Frameworks only, and a new seal fits`() throws {
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let gone = [
            "Frameworks/Demo.framework/Headers/a.h", "Frameworks/Demo.framework/Headers/\u{301}b.h",
            "Frameworks/Demo.framework/Modules/module.modulemap",
            "Frameworks/libX.a", "Frameworks/X.xcframework/Info.plist",
        ]
        for path in gone + ["Headers/kept.txt", "lib.a"] { _ = try scratch.file("App.app/\(path)", "x") }
        try AtomicWriter.write(CodeSigner(CodeSigner.Options()).plan(app).changes)
        var request = ThinRequest(side: .device)
        request.cleans = true
        let plan = try Thinner.plan(app, request)
        #expect(
            plan.removals.map(\.lastPathComponent).sorted() == ["Headers", "Modules", "X.xcframework", "libX.a"])
        #expect(plan.unsealed.map(\.lastPathComponent) == ["Demo.framework", "App.app"])
        let signed = try CodeSigner(CodeSigner.Options()).plan(app, over: plan.changes, removing: plan.removals)
        try AtomicWriter.write(signed.changes)
        for url in plan.removals { try FileManager.default.removeItem(at: url) }
        #expect(try SignatureVerifier().findings(app).filter { $0.severity == .error } == [])
        for path in gone { #expect(!InputFile.kind(of: app.appendingPathComponent(path)).exists) }
        #expect(InputFile.kind(of: app.appendingPathComponent("Headers/kept.txt")).exists)
        #expect(try Thinner.plan(app, request).removals.isEmpty)
    }

    @Test func `symbol files are thinned like code, and stop neither archives nor xcframeworks`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let symbols = "App.xcarchive/dSYMs/Demo.framework.dSYM/Contents/Resources/DWARF/Demo"
        let fat = try scratch.file(symbols, lab.data(lab.symbols))
        _ = try scratch.file("App.xcarchive/Products/Applications/App.app/Frameworks/Demo", lab.data(lab.fat))
        let archive = scratch.folder.appendingPathComponent("App.xcarchive")
        let plan = try Thinner.plan(archive, ThinRequest(side: .device))
        #expect(plan.changes.map(\.url.lastPathComponent) == ["Demo", "Demo"])
        try AtomicWriter.write(plan.changes)
        #expect(try Data(contentsOf: fat) == lab.data(lab.deviceSymbols))
        _ = try scratch.file(
            "D.xcframework/Info.plist",
            XMLPropertyListWriter().document(
                .dictionary([
                    "AvailableLibraries": .array([.dictionary(["LibraryIdentifier": .string("ios-arm64")])])
                ])))
        _ = try scratch.file("D.xcframework/ios-arm64/dSYMs/Demo", lab.data(lab.symbols))
        let framework = scratch.folder.appendingPathComponent("D.xcframework")
        #expect(try Thinner.plan(framework, ThinRequest(side: .device)).changes.count == 1)
    }

    @Test func `symbol files are neither patched nor signed`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let app = try FrameworkPatcherTests.app(in: scratch)
        let file = try scratch.file("App.app/Frameworks/libDemo.dylib", lab.data(lab.deviceSymbols))
        let image = try MachOImage(lab.data(lab.deviceSymbols))
        #expect(image.isSymbolFile && image.platform == .iOS)
        let patcher = FrameworkPatcher(names: .intuneCompatible)
        let plan = try patcher.plan(.install, app)
        #expect(plan.images.filter { $0.path == file.path }.map(\.state) == ["skipped"])
        let signed = try CodeSigner(CodeSigner.Options()).plan(app, over: plan.changes)
        #expect(!signed.changes.contains { $0.url.path == file.path })
        #expect(signed.findings.contains { $0.code == "SG-SYMBOLS" })
        #expect(throws: AppToolsError(.unsupported, "")) { try CodeSigner(CodeSigner.Options()).plan(file) }
        #expect(throws: AppToolsError(.unsupported, "")) { try patcher.plan(.install, file) }
    }

    @Test func `an xcframework's list names the processors that are left, and what stays is said`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        func library(_ name: String, _ processors: [String], variant: String?) -> PropertyListValue {
            var entries: PropertyListDictionary = [
                "LibraryIdentifier": .string(name),
                "SupportedArchitectures": .array(processors.map { .string($0) }),
            ]
            if let variant { entries["SupportedPlatformVariant"] = .string(variant) }
            return .dictionary(entries)
        }
        _ = try scratch.file(
            "D.xcframework/Info.plist",
            XMLPropertyListWriter().document(
                .dictionary([
                    "AvailableLibraries": .array([
                        library("ios", ["arm64", "x86_64"], variant: nil),
                        library("sim", ["arm64"], variant: "simulator"),
                    ])
                ])))
        _ = try scratch.file("D.xcframework/ios/Demo.framework/Demo", lab.data(lab.fat))
        _ = try scratch.file("D.xcframework/sim/Demo.framework/Demo", lab.data(lab.armSimulatorLibrary))
        let framework = scratch.folder.appendingPathComponent("D.xcframework")
        let x86 = try #require(CPUType(named: "x86_64"))
        try AtomicWriter.write(Thinner.plan(framework, ThinRequest(removed: [x86])).changes)
        let list = try PropertyList(contentsOf: framework.appendingPathComponent("Info.plist")).value
        let processors = list["AvailableLibraries"]?.array?.map { $0["SupportedArchitectures"]?.strings ?? [] }
        #expect(processors == [["arm64"], ["arm64"]])
        let kept = try Thinner.plan(framework, ThinRequest(side: .device))
        #expect(kept.changes.isEmpty)
        #expect(kept.findings.map(\.message) == ["stays; --slim drops it"])
    }

    @Test func `a file that has none of the wanted processors is refused with the way out`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let file = try scratch.file("Wrist", lab.data(lab.watchExecutable))
        let arm = try #require(CPUType(named: "arm64"))
        let error = #expect(throws: AppToolsError(.refused, "")) { try Thinner.plan(file, ThinRequest(kept: [arm])) }
        #expect(error?.hint?.contains("--remove-arch") == true)
    }

    @Test(.enabled(if: Program.find("llvm-ar-19", "ar") != nil, "needs ar"))
    func `a static archive in a fat file is judged by its first member`() throws {
        let lab = try MachOLab.get()
        let scratch = try Scratch()
        let ar = try #require(Program.find("llvm-ar-19", "ar"))
        var archives: [String] = []
        for name in ["dev", "sim"] {
            let file = scratch.folder.appendingPathComponent("\(name).a").path
            try Program.succeed(ar, ["rcS", file, "lib-\(name).o"], in: lab.folder)
            archives.append(file)
        }
        let fat = scratch.folder.appendingPathComponent("Demo")
        try Program.succeed(MachOLab.lipo ?? "", ["-create"] + archives + ["-output", fat.path])
        let plan = try Thinner.plan(fat, ThinRequest(side: .device))
        try AtomicWriter.write(plan.changes)
        #expect(try Data(contentsOf: fat) == Data(contentsOf: URL(fileURLWithPath: archives[0])))
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

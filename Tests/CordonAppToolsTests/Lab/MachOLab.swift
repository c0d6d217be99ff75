import CordonTestSupport
import Foundation
import Testing

/// Real Mach-O files for iOS, built once per test run by clang and LLVM's linker.
struct MachOLab {
    let folder: URL
    /// arm64 device library, chained fixups, ad-hoc signed by the linker.
    let library: URL
    /// x86_64 and arm64 simulator libraries.
    let simulatorLibrary: URL
    let armSimulatorLibrary: URL
    /// Both device and x86_64 simulator.
    let fat: URL
    let fat64: URL
    /// arm64 device executable with roomy header padding.
    let executable: URL
    /// The same for the simulator, without any padding.
    let tightExecutable: URL
    /// The device executable as an extension is linked, its frameworks two folders up.
    let extensionExecutable: URL
    /// The device executable with the older kind of fixups.
    let opcodeExecutable: URL
    /// A 32-bit executable for a watch.
    let watchExecutable: URL
    /// A library under the SDK's name.
    let sdkLibrary: URL
    /// The debug symbols of the device library, and those with the ones of the x86_64 simulator's.
    let deviceSymbols: URL
    let symbols: URL

    static let linker = Program.find("ld64.lld-19")
    static let lipo = Program.find("llvm-lipo-19")
    static let otool = Program.find("llvm-otool-19")
    static let objdump = Program.find("llvm-objdump-19", "llvm-objdump")
    static let clang = Program.find("clang")
    static let dsymutil = Program.find("dsymutil-19", "dsymutil")
    static let isAvailable = linker != nil && lipo != nil && otool != nil && clang != nil && dsymutil != nil
    static let needs: Comment =
        "needs clang, and ld64.lld-19, llvm-lipo-19, llvm-otool-19, dsymutil-19 of Debian's lld-19, llvm-19"

    static let shared = Result { try MachOLab() }

    static func get() throws -> MachOLab { try shared.get() }

    private init() throws {
        folder = try TemporaryFolder.make()
        LabFolders.remember(folder.path)
        try Self.stub.write(to: folder.appendingPathComponent("libSystem.tbd"), atomically: true, encoding: .utf8)
        try "int puts(const char*); int lab(int x) { puts(\"lab\"); return x + 1; }"
            .write(to: folder.appendingPathComponent("lib.c"), atomically: true, encoding: .utf8)
        try
            "int getpid(void); int lab(int); const char *const words[] = {\"a\", \"b\"}; int main() { return lab(getpid()) + words[0][0]; }"
            .write(to: folder.appendingPathComponent("main.c"), atomically: true, encoding: .utf8)
        let builder = Builder(folder: folder)
        for (suffix, triple) in Self.triples {
            try builder.compile("lib.c", triple, "lib-\(suffix).o")
            try builder.compile("main.c", triple, "main-\(suffix).o")
        }
        library = try builder.link(
            "Demo.dev", "arm64", "ios", ["-dylib", "-install_name", "@rpath/Demo.framework/Demo", "lib-dev.o"])
        sdkLibrary = try builder.link(
            "Sdk.dev", "arm64", "ios", ["-dylib", "-install_name", "@rpath/Sdk.framework/Sdk", "lib-dev.o"])
        simulatorLibrary = try builder.link(
            "Demo.sim", "x86_64", "ios-simulator",
            ["-headerpad", "0x400", "-dylib", "-install_name", "@rpath/Demo.framework/Demo", "lib-sim.o"])
        armSimulatorLibrary = try builder.link(
            "Demo.armsim", "arm64", "ios-simulator",
            ["-dylib", "-install_name", "@rpath/Demo.framework/Demo", "lib-armsim.o"])
        let rpath = ["-rpath", "@executable_path/Frameworks", "main-dev.o", "Demo.dev"]
        executable = try builder.link("App.dev", "arm64", "ios", ["-headerpad", "0x400"] + rpath)
        extensionExecutable = try builder.link(
            "Share.dev", "arm64", "ios",
            ["-headerpad", "0x400", "-rpath", "@executable_path/../../Frameworks", "main-dev.o", "Demo.dev"])
        opcodeExecutable = try builder.link(
            "App.opcodes", "arm64", "ios", ["-headerpad", "0x400", "-no_fixup_chains"] + rpath)
        watchExecutable = try builder.link(
            "Watch.dev", "arm64_32", "watchos", ["-headerpad", "0x400", "main-watch.o", "lib-watch.o"])
        // Device images always start code on a fresh page, so only a simulator image can be without padding.
        tightExecutable = try builder.link(
            "App.tight", "arm64", "ios-simulator", ["-headerpad", "0", "main-armsim.o", "Demo.armsim"])
        deviceSymbols = try builder.symbols("Symbols.dev", "arm64", "ios", "lib-dev.o")
        let simulatorSymbols = try builder.symbols("Symbols.sim", "x86_64", "ios-simulator", "lib-sim.o")
        symbols = folder.appendingPathComponent("Symbols.fat")
        try builder.lipo([
            "-create", deviceSymbols.path, simulatorSymbols.path, "-output", symbols.path,
        ])
        fat = folder.appendingPathComponent("Demo.fat")
        fat64 = folder.appendingPathComponent("Demo.fat64")
        for (output, flags) in [(fat, []), (fat64, ["-fat64"])] {
            try builder.lipo(["-create", "Demo.dev", "Demo.sim", "-output", output.path] + flags)
        }
    }

    /// The linked file's bytes.
    func data(_ url: URL) throws -> Data { try Data(contentsOf: url) }

    private static let triples = [
        ("dev", "arm64-apple-ios16.0"), ("sim", "x86_64-apple-ios16.0-simulator"),
        ("armsim", "arm64-apple-ios16.0-simulator"), ("watch", "arm64_32-apple-watchos9.0"),
    ]

    private static let stub = """
        --- !tapi-tbd
        tbd-version:     4
        targets:         [ arm64-ios, arm64-ios-simulator, x86_64-ios-simulator, arm64_32-watchos ]
        install-name:    '/usr/lib/libSystem.B.dylib'
        exports:
          - targets:     [ arm64-ios, arm64-ios-simulator, x86_64-ios-simulator, arm64_32-watchos ]
            symbols:     [ dyld_stub_binder, _puts, _exit, _open, _getpid ]
        ...

        """

    private struct Builder {
        let folder: URL

        func compile(_ source: String, _ triple: String, _ output: String) throws {
            try Program.succeed(
                MachOLab.clang ?? "clang", ["-target", triple, "-O1", "-g", "-c", source, "-o", output], in: folder)
        }

        func link(_ output: String, _ arch: String, _ platform: String, _ flags: [String]) throws -> URL {
            let head = ["-arch", arch, "-platform_version", platform, "16.0", "17.0", "-adhoc_codesign"]
            try Program.succeed(
                MachOLab.linker ?? "ld64.lld-19", head + flags + ["-o", output, "libSystem.tbd"], in: folder)
            return folder.appendingPathComponent(output)
        }

        /// The one file with debug symbols of a library made from an object.
        func symbols(_ output: String, _ arch: String, _ platform: String, _ object: String) throws -> URL {
            let library = try link("\(output).dylib", arch, platform, ["-dylib", object])
            try Program.succeed(
                MachOLab.dsymutil ?? "dsymutil", ["--flat", library.path, "-o", output], in: folder)
            return folder.appendingPathComponent(output)
        }

        func lipo(_ arguments: [String]) throws {
            try Program.succeed(MachOLab.lipo ?? "llvm-lipo-19", arguments, in: folder)
        }
    }
}

/// Removes the lab's folder when the test process ends.
private enum LabFolders {
    nonisolated(unsafe) private static var path: UnsafeMutablePointer<CChar>?

    /// Called once, from the one-time initialisation of the lab, so there is no race on the pointer.
    static func remember(_ folder: String) {
        path = strdup(folder)
        atexit {
            if let path = LabFolders.path { try? FileManager.default.removeItem(atPath: String(cString: path)) }
        }
    }
}

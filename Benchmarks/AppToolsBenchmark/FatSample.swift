import Foundation

/// A fat file of two large slices, linked by LLVM's linker from generated data.
struct FatSample {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    struct Failed: Error {
        let program: String
        let output: String
    }

    let folder: URL
    let fat: URL
    /// The copy that tools change.
    let work: URL
    let lipo: String
    let installNameTool: String

    init(sliceSize: Int) throws {
        let programs = InstalledPrograms()
        let tools = ["llvm-lipo", "llvm-install-name-tool", "ld64.lld"]
        guard let llvm = programs.newest(tools) else {
            throw Missing(description: "needs \(tools.joined(separator: ", ")) of one version of LLVM")
        }
        guard let clang = programs.newest(["clang"])?.first else { throw Missing(description: "needs clang") }
        (lipo, installNameTool) = (llvm[0], llvm[1])
        let linker = llvm[2]
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-fat-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        fat = folder.appendingPathComponent("fat")
        work = folder.appendingPathComponent("work")
        try "const char content[\(sliceSize)] = {1}; int lab(void); int use(void) { return lab() + content[7]; }"
            .write(to: url("big.c"), atomically: true, encoding: .utf8)
        try """
        --- !tapi-tbd
        tbd-version: 4
        targets: [ arm64-ios, x86_64-ios-simulator ]
        install-name: '/usr/lib/libSystem.B.dylib'
        exports:
          - targets: [ arm64-ios, x86_64-ios-simulator ]
            symbols: [ dyld_stub_binder, _lab ]
        ...

        """.write(to: url("libSystem.tbd"), atomically: true, encoding: .utf8)
        for (arch, platform, triple) in [
            ("arm64", "ios", "arm64-apple-ios16.0"), ("x86_64", "ios-simulator", "x86_64-apple-ios16.0-simulator"),
        ] {
            try run(clang, ["-target", triple, "-O1", "-c", url("big.c").path, "-o", url("\(arch).o").path])
            try run(
                linker,
                [
                    "-arch", arch, "-platform_version", platform, "16.0", "17.0", "-adhoc_codesign", "-headerpad",
                    "0x1000",
                    "-dylib", "-install_name", "@rpath/Big.framework/Big", "-o", url(arch).path, url("\(arch).o").path,
                    url("libSystem.tbd").path,
                ])
        }
        try run(lipo, ["-create", url("arm64").path, url("x86_64").path, "-output", fat.path])
    }

    func url(_ name: String) -> URL { folder.appendingPathComponent(name) }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    func restore() throws {
        try? FileManager.default.removeItem(at: work)
        try FileManager.default.copyItem(at: fat, to: work)
        sync()
    }

    /// What a tool that replaces the file and makes the result durable cannot be faster than.
    func copyArm() throws { try copy(url("arm64"), to: work) }

    func copyAll() throws { try copy(fat, to: work) }

    private func copy(_ source: URL, to target: URL) throws {
        try run("/bin/dd", ["if=\(source.path)", "of=\(target.path)", "bs=1M", "conv=fsync"])
    }

    func hash() throws { try run("/usr/bin/sha256sum", [fat.path]) }

    func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(program: program, output: text) }
    }

    /// Whether a command needs no more private writable memory than so many bytes; mapped files do not count.
    func runs(within bytes: Int, _ program: String, _ arguments: [String]) -> Bool {
        (try? run("/usr/bin/timeout", ["30", "prlimit", "--data=\(bytes)", program] + arguments)) != nil
    }
}

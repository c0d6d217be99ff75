import Foundation

/// Programs in C that make every allocation of a part in C fail in turn (R6). The part is linked into a program of its own: Swift's run time
/// ends a process that has no memory, so the same could not be asked in a test's own process.
package enum AllocationFaults {
    /// What compiles them; nil where there is none.
    package static let compiler = Program.find("clang")

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    /// Compiles a program of `Tests/AllocationFaults` and runs it, which has to end well; what it says.
    ///
    /// - Parameters:
    ///   - sources: Its own files, in `Tests/AllocationFaults`.
    ///   - target: The part, a folder of `Sources`.
    ///   - linked: The files of the part that are linked to it.
    ///   - options: Further arguments for the compiler.
    package static func run(
        _ sources: [String], of target: String, linking linked: [String] = [], _ options: [String] = []
    ) throws -> String {
        guard let compiler else { throw Program.Failed(description: "there is no clang") }
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let (own, part) = (root.appending(path: "Tests/AllocationFaults"), root.appending(path: "Sources/\(target)"))
        let program = folder.appending(path: "program").path
        try Program.succeed(
            compiler,
            ["-O1", "-I", own.path, "-I", part.path, "-I", part.appending(path: "include").path]
                + sources.map { own.appending(path: $0).path } + linked.map { part.appending(path: $0).path }
                + ["-o", program] + options)
        return try Program.succeed(program, []).text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

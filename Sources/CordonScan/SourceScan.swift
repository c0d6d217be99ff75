internal import Foundation

/// Reads the sources of an app and tells every way out that nothing guards.
package struct SourceScan: Sendable {
    /// What to read and how.
    package struct Options: Sendable {
        /// Whether to read dependencies that lie in the folder.
        package var readsDependencies = false
        /// Whether to read tests.
        package var readsTests = false
        /// Waivers beside those that stand in the sources.
        package var waivers: [ScanWaiver] = []
        /// The day for waivers that end, `YYYY-MM-DD`.
        package var today: String

        package init(today: String) { self.today = today }
    }

    private let root: String
    private let options: Options

    /// A scan of a folder or of one file.
    package init(_ root: String, options: Options) {
        self.root = root
        self.options = options
    }

    /// Reads a file of waivers.
    package static func waivers(_ text: String, file: String) -> [ScanWaiver] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated().compactMap {
            ScanWaiver(line: String($1), number: $0 + 1, file: file)
        }
    }

    /// Every way out that is known: its name, what it is, and the guard.
    package static var ways: [(name: String, title: String, remedy: String)] {
        WayOut.allCases.map { ($0.rawValue, $0.title, $0.remedy) }
    }

    /// Scans.
    ///
    /// - Parameter progress: Told how many bytes of how many are done, counted over both readings.
    package func run(progress: (Int64, Int64) -> Void = { _, _ in }) -> ScanReport {
        let tree = SourceTree(root, dependencies: options.readsDependencies)
        var report = ScanReport()
        report.unread = tree.unread
        report.skipped = tree.skipped
        let total = Int64(tree.files.reduce(0) { $0 + $1.size }) * 2
        var done: Int64 = 0
        var facts = ProjectFacts()
        var readable: [(path: String, size: Int)] = []
        var asking: [String] = []
        var tests = 0
        // First what the files tell each other, then what each lets out.
        for file in tree.files {
            switch read(file.path) {
            case .failure(let reason): report.unread.append(ScanReport.Omission(path: file.path, reason: reason))
            case .foreign:
                report.skipped.append(
                    ScanReport.Omission(
                        path: file.path, reason: "no property list or interface file, whatever its name"))
            case .success(let source):
                if source.language == .markup {
                    readable.append(file)
                } else {
                    let reader = source.code()
                    if !options.readsTests, source.isTest(reader) {
                        tests += 1
                    } else {
                        source.collect(reader, into: &facts)
                        if SourceFile.mayAsk(reader, facts) { asking.append(file.path) }
                        readable.append(file)
                    }
                }
            }
            done += Int64(file.size)
            progress(done, total)
        }
        // What is not read again is done.
        done = total - Int64(readable.reduce(0) { $0 + $1.size })
        progress(done, total)
        facts.followAliases()
        collectAsking(asking, in: readable.map(\.path), &facts)
        var (findings, waivers): ([ScanFinding], [ScanWaiver]) = ([], options.waivers)
        var wrapped: [FileScan.Wrapped] = []
        for file in readable {
            guard case .success(let source) = read(file.path) else {
                report.unread.append(
                    ScanReport.Omission(path: file.path, reason: "it was changed or removed during the scan"))
                done += Int64(file.size)
                progress(done, total)
                continue
            }
            let result =
                source.language == .markup
                ? MarkupScan(file: source).result() : FileScan(file: source, project: facts).result(source.code())
            // A project without its sources would pass for one in which nothing was found.
            if !MarkupScan.isSettings(source.path) { report.files += 1 }
            report.lines += result.lines
            report.guarded += result.guarded
            if source.text.isForeign {
                report.skipped.append(ScanReport.Omission(path: file.path, reason: "not UTF-8; its ASCII was read"))
            }
            if result.isTooDeep {
                report.skipped.append(
                    ScanReport.Omission(
                        path: file.path, reason: "nested too deeply to see guards in it; every way out is told"))
            }
            wrapped += result.wrapped.map {
                FileScan.Wrapped(finding: $0.finding + findings.count, name: $0.name, actions: $0.actions)
            }
            findings += result.findings
            waivers += result.waivers
            done += Int64(file.size)
            progress(done, total)
        }
        if !asking.isEmpty {
            let guarded = guardedWhereUsed(wrapped, readable.map(\.path), facts)
            report.guarded += guarded.count
            findings = findings.enumerated().filter { !guarded.contains($0.offset) }.map(\.element)
        }
        if tests > 0 {
            report.skipped.append(ScanReport.Omission(path: "\(tests) files", reason: "tests; --tests reads them"))
        }
        (report.findings, report.waived) = WaiverLedger(waivers: waivers, today: options.today).apply(to: findings)
        report.findings.sort(by: Self.precedes)
        report.waived.sort(by: Self.precedes)
        return report
    }

    private static func precedes(_ left: ScanFinding, _ right: ScanFinding) -> Bool {
        (left.path, left.line, left.column, left.way) < (right.path, right.line, right.column, right.way)
    }

    /// Functions of the project that ask Cordon, and functions that ask those.
    private func collectAsking(_ asking: [String], in paths: [String], _ facts: inout ProjectFacts) {
        guard !asking.isEmpty else { return }
        for round in 0..<3 {
            var found: [(UInt64, ProjectFacts.Asking)] = []
            // Who calls a function that asks can stand in any file.
            for path in round == 0 ? asking : paths {
                guard case .success(let source) = read(path), source.language != .markup else { continue }
                let reader = source.code()
                guard round == 0 || SourceFile.mayAsk(reader, facts) else { continue }
                let declarations = Declarations(reader)
                var guards = GuardReader(reader, declarations, facts)
                guards.read()
                for declaration in declarations.all {
                    if let answer = guards.asking[declaration.body.lowerBound] {
                        found.append((declaration.name, answer))
                    }
                }
            }
            let known = facts.asking.count
            facts.setAsking(found)
            if facts.asking.count == known { return }
        }
    }

    /// The findings in functions and views that are used behind guards alone.
    private func guardedWhereUsed(_ wrapped: [FileScan.Wrapped], _ paths: [String], _ facts: ProjectFacts) -> Set<Int> {
        guard !wrapped.isEmpty else { return [] }
        var sites = CallSites(of: Set(wrapped.map(\.name)))
        for path in paths {
            guard case .success(let source) = read(path), source.language != .markup else { continue }
            sites.read(source.code(), facts)
        }
        return Set(wrapped.filter { sites.areGuarded($0.name, $0.actions) }.map(\.finding))
    }

    private enum Reading {
        case success(SourceFile)
        case failure(String)
        /// Something else by the name of a property list.
        case foreign
    }

    private func read(_ path: String) -> Reading {
        var isFolder: ObjCBool = false
        let isOneFile = FileManager.default.fileExists(atPath: root, isDirectory: &isFolder) && !isFolder.boolValue
        let place = isOneFile ? root : root + "/" + path
        guard let data = FileManager.default.contents(atPath: place) else { return .failure("it cannot be read") }
        guard data.count <= SourceTree.largest else { return .failure("larger than \(SourceTree.largest >> 20) MiB") }
        let source = SourceFile(path: path, data: data)
        return source.language == .markup ? readMarkup(source) : .success(source)
    }

    /// Binary and old-style property lists would pass for ones with nothing in them.
    private func readMarkup(_ source: SourceFile) -> Reading {
        if MarkupScan.isSettings(source.path) { return .success(source) }
        let start = Self.withoutComments(source.text.text(0..<source.text.count))
        let head = start.prefix(256)
        let isBinary = head.contains("\0") || start.hasPrefix("bplist")
        if !isBinary, start.hasPrefix("<") { return .success(source) }
        guard isBinary || head.contains("\u{FFFD}") || start.hasPrefix("{") || start.hasPrefix("(") else {
            return .foreign
        }
        return switch (source.path as NSString).pathExtension.lowercased() {
        case "xib", "storyboard": .failure("an interface file that is not XML")
        default: .failure("a property list that is not XML; plutil -convert xml1 makes one of it")
        }
    }

    /// What the build preprocesses may begin with comments and `#include`.
    private static func withoutComments(_ text: String) -> Substring {
        var rest = text.drop { $0.isWhitespace }
        while true {
            if rest.hasPrefix("#") || rest.hasPrefix("//") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                guard let end = rest.dropFirst(2).firstRange(of: "*/") else { return "" }
                rest = rest[end.upperBound...]
            } else {
                return rest
            }
            rest = rest.drop { $0.isWhitespace }
        }
    }
}

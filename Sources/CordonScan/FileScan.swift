/// The scan of one file: its ways out, without those that a guard covers.
struct FileScan {
    let file: SourceFile
    let project: ProjectFacts

    /// What a scan of a file found.
    struct Result {
        var findings: [ScanFinding] = []
        var waivers: [ScanWaiver] = []
        var guarded = 0
        var lines = 0
        var isTooDeep = false
        /// Findings that stand in a function or view of the project's own, which may be guarded where it is used.
        var wrapped: [Wrapped] = []
    }

    /// A finding by its number, and the function or view around it.
    struct Wrapped {
        let finding: Int
        let name: UInt64
        let actions: ActionSet
    }

    func result(_ read: CodeReader) -> Result {
        var reader = read
        reader.rename(project.aliases)
        let declarations = Declarations(reader)
        var collector = FactCollector(reader, .standard, declarations, knowing: project)
        var own = ProjectFacts()
        collector.collect(into: &own)
        let receivers = Receivers(
            reader: reader, catalogue: .standard, project: project, names: collector.names, declarations: declarations
        )
        let finder = WayFinder(reader, .standard, project, receivers)
        let hits = finder.hits()
        var guards = GuardReader(reader, declarations, project)
        if !hits.isEmpty { guards.read() }
        let judge = GuardJudge(reader: reader, guards: guards, hits: hits)
        var places = SourceText.Places()
        var result = Result(isTooDeep: reader.code.isTooDeep)
        for hit in hits {
            guard !judge.isGuarded(hit) else {
                result.guarded += 1
                continue
            }
            if reader.tokens[hit.token].isDebug, hit.way == .log { continue }
            let place = places.place(of: Int(reader.tokens[hit.token].start), in: file.text)
            var finding = ScanFinding(
                path: file.path, line: place.line, column: place.column, severity: hit.severity, way: hit.way.rawValue,
                symbol: hit.symbol,
                message: "\(hit.symbol): \(hit.way.title): \(hit.way.leaves)", remedy: hit.way.remedy,
                fingerprint: Fingerprint.of(hit.way.rawValue, hit.symbol, places.lineText(in: file.text)))
            if reader.tokens[hit.token].isDebug {
                finding.severity = .note
                finding.message += " (in debug builds and previews alone)"
            }
            if let wrapper = wrapper(of: hit, reader, declarations) {
                result.wrapped.append(Wrapped(finding: result.findings.count, name: wrapper, actions: hit.way.actions))
            }
            result.findings.append(finding)
        }
        result.waivers = waivers(reader, declarations)
        result.lines = places.place(of: file.text.count, in: file.text).line
        return result
    }

    private static let shells = WayCatalogue.hashes("UIViewControllerRepresentable", "UIViewRepresentable")
    private static let views = shells.union(WayCatalogue.hashes("View", "ViewModifier"))

    /// The one function or view of its name in the project that a way out stands in, where only the project can use it.
    private func wrapper(of hit: WayHit, _ reader: CodeReader, _ declarations: Declarations) -> UInt64? {
        guard hit.body == nil, !hit.way.actions.isEmpty else { return nil }
        let around = declarations.around(hit.token, in: reader) { $0.kind == .type || $0.kind == .extension }
        let view = around.flatMap { $0.inherited.isDisjoint(with: Self.views) ? nil : $0 }
        // The system calls the methods of a shell: what counts is where the shell is shown.
        let isShell = view.map { !$0.inherited.isDisjoint(with: Self.shells) } ?? false
        let inner = declarations.around(hit.token, in: reader) { $0.kind != .property }
        let candidate = isShell || inner?.kind != .function ? view : inner
        guard let candidate, !candidate.isCalledFromOutside, project.isUnique(candidate.name) else { return nil }
        return candidate.name
    }

    private func waivers(_ reader: CodeReader, _ declarations: Declarations) -> [ScanWaiver] {
        guard !reader.code.comments.isEmpty else { return [] }
        var places = SourceText.Places()
        return reader.code.comments.compactMap { comment in
            let place = places.place(of: comment.start, in: file.text)
            guard var waiver = ScanWaiver(comment: file.text.text(comment.start..<comment.end), path: file.path, place)
            else { return nil }
            guard comment.standsAlone else {
                // A comment behind code speaks of its line.
                waiver.lines = place.line...place.line
                return waiver
            }
            // One on a line of its own speaks of the statement below.
            var (low, high) = (0, reader.count)
            while low < high {
                let middle = (low + high) / 2
                if Int(reader.tokens[middle].start) < comment.end { low = middle + 1 } else { high = middle }
            }
            guard low < reader.count else { return waiver }
            var later = places
            let first = later.place(of: Int(reader.tokens[low].start), in: file.text).line
            waiver.lines = first...max(first, lastLine(of: low, reader, declarations, &later))
            return waiver
        }
    }

    private static let heads = WayCatalogue.hashes("if", "guard", "while", "for", "switch", "repeat", "do")

    /// The line on which the statement that begins at a token ends; that of a declaration, a condition or a loop ends where its body
    /// begins, and that of a call behind its closure.
    private func lastLine(
        of start: Int, _ reader: CodeReader, _ declarations: Declarations, _ places: inout SourceText.Places
    ) -> Int {
        var at = start
        var steps = 0
        // Also behind a label, `return` or `let value =`, but not `.if(isOn) { … }`, which is a call.
        var hasHead = Self.heads.contains(reader.hash(start))
        while at + 1 < reader.count, steps < 60 {
            let next = reader.after(at)
            steps += 1
            guard next < reader.count, reader.enclosing(next) == reader.enclosing(start),
                !(reader.startsLine(next) && reader.statementStart(next) == next)
            else { break }
            if reader.hash(next) == Mark.openBrace,
                reader.hash(next - 1) != Mark.closeParen || !reader.isSwift || declarations.byBrace[next] != nil
                    || hasHead
            {
                break
            }
            at = next
            hasHead = hasHead || reader.hash(at - 1) != Mark.dot && Self.heads.contains(reader.hash(at))
        }
        let end = reader.partner(at) > at ? reader.partner(at) : at
        return places.place(of: Int(reader.tokens[end].start), in: file.text).line
    }
}

/// Tells a finding again in another version of its file.
enum Fingerprint {
    static func of(_ parts: String...) -> String {
        let words = parts.map { $0.split { $0 == " " || $0 == "\t" || $0 == "\r" }.joined(separator: " ") }
        return String(Word.hash(words.joined(separator: "\n")), radix: 16)
    }
}

/// Says of functions and views of a project whether each of their uses stands behind a guard.
struct CallSites {
    private struct Uses {
        var count = 0
        /// What was not asked before some use, as the ways out want it.
        var open: Set<ActionSet> = []
    }

    private var uses: [UInt64: Uses] = [:]
    private let names: Set<UInt64>

    init(of names: Set<UInt64>) { self.names = names }

    private static let declaring = WayCatalogue.hashes("func", "struct", "class", "enum", "extension", "actor")

    /// Looks at the uses in one file.
    mutating func read(_ file: CodeReader, _ project: ProjectFacts) {
        var reader = file
        reader.rename(project.aliases)
        let places = (0..<file.count).filter { index in
            file.kind(index) == .identifier && names.contains(file.hash(index)) && !file.tokens[index].isDebug
                && !Self.declaring.contains(file.hash(index - 1))
        }
        guard !places.isEmpty else { return }
        let declarations = Declarations(reader)
        var guards = GuardReader(reader, declarations, project)
        if SourceFile.mayAsk(reader, project) { guards.read() }
        let judge = GuardJudge(reader: reader, guards: guards, hits: [])
        for place in places {
            var use = uses[file.hash(place)] ?? Uses()
            use.count += 1
            let end = file.argumentsOpen(place).map { file.partner($0) } ?? place
            for way in WayOut.allCases where !use.open.contains(way.actions) {
                let hit = WayHit(token: place, end: end, way: way, severity: .error, symbol: "")
                if !judge.isGuarded(hit) { use.open.insert(way.actions) }
            }
            uses[file.hash(place)] = use
        }
    }

    /// Whether something is used, and only behind a guard that asks one of some actions.
    func areGuarded(_ name: UInt64, _ actions: ActionSet) -> Bool {
        guard let use = uses[name], use.count > 0 else { return false }
        return !use.open.contains(actions)
    }
}

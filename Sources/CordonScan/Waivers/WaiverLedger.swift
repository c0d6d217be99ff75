/// Takes waived findings away, and tells of waivers that are wrong, over or needless.
struct WaiverLedger {
    let waivers: [ScanWaiver]
    let today: String

    func apply(to findings: [ScanFinding]) -> (open: [ScanFinding], waived: [ScanFinding]) {
        var used: Set<Int> = []
        var (open, waived): ([ScanFinding], [ScanFinding]) = ([], [])
        var byPath: [String: [Int]] = [:]
        var folders: [Int] = []
        for (index, waiver) in waivers.enumerated() {
            if waiver.path.hasSuffix("/") {
                folders.append(index)
            } else {
                byPath[waiver.path, default: []].append(index)
            }
        }
        for finding in findings {
            let known = (byPath[finding.path] ?? []) + folders
            func first(_ isWanted: (ScanWaiver) -> Bool) -> Int? {
                known.first { waivers[$0].covers(finding) && isWanted(waivers[$0]) }
            }
            guard let index = first({ !$0.isOver(on: today) }) ?? first({ _ in true }) else {
                open.append(finding)
                continue
            }
            used.insert(index)
            if waivers[index].isOver(on: today) {
                open.append(finding)
            } else {
                var finding = finding
                finding.waiver = waivers[index].reason
                waived.append(finding)
            }
        }
        for (index, waiver) in waivers.enumerated() {
            if let flaw = waiver.flaw {
                open.append(flawed(waiver, .error, "the waiver holds for nothing: \(flaw)", "mend or remove it"))
            } else if !used.contains(index) {
                open.append(
                    flawed(waiver, .warning, "the waiver is needless: nothing of this kind is left here", "remove it"))
            } else if waiver.isOver(on: today) {
                open.append(
                    flawed(
                        waiver, .error, "the waiver held until \(waiver.until ?? "")",
                        "decide anew, or put a guard there"))
            }
        }
        return (open, waived)
    }

    private func flawed(_ waiver: ScanWaiver, _ severity: ScanFinding.Severity, _ message: String, _ remedy: String)
        -> ScanFinding
    {
        ScanFinding(
            path: waiver.file, line: waiver.line, column: waiver.column, severity: severity, way: "waiver",
            symbol: waiver.ways.sorted().joined(separator: ", "), message: message, remedy: remedy,
            fingerprint: Fingerprint.of(
                "waiver", waiver.ways.sorted().joined(separator: ","), waiver.path, waiver.reason))
    }
}

internal import CordonBase
public import Foundation

/// Drops slices from fat files; the kept ones are copied verbatim, so their signatures stay valid (TL-TH-03).
public enum Thinner {
    /// What is to be done with one file, or with all code files of a bundle.
    public struct Plan: Sendable {
        fileprivate let boundary: WriteBoundary?
        /// The files to write.
        public internal(set) var changes: [FileChange] = []
        /// What `slims` and `cleans` make superfluous; remove it after writing.
        public internal(set) var removals: [URL] = []
        /// Bundles whose seals no longer fit, outermost last.
        public internal(set) var unsealed: [URL] = []
        /// What was noticed.
        public internal(set) var findings: [Finding] = []
    }

    /// Plans the thinning of a file, or of every code file in a folder.
    /// - Throws: ``AppToolsError`` `refused` when a file would keep no slice, `malformed` or `missing` for bad input.
    public static func plan(_ given: URL, _ request: ThinRequest) throws(AppToolsError) -> Plan {
        var plan = Plan(boundary: WriteBoundary(of: given))
        let place = InputFile.kind(of: given)
        guard place.exists else { throw AppToolsError(.missing, "does not exist", at: given.path) }
        // What is found below a link would be nothing.
        let isLinked = place.isFolder && InputFile.entry(at: given) == .link
        let url = isLinked ? given.resolvingSymlinksInPath() : given
        if url.pathExtension == "xcframework" {
            try add(XCFramework(url), request, to: &plan)
        } else if place.isFolder {
            if request.cleans { clean(url, &plan) }
            let gone = plan.removals.map(\.path)
            for file in CodeFiles.all(in: url) where !gone.contains(where: file.path.lies) {
                try add(file, request, to: &plan, isGiven: false)
            }
            let changed = plan.changes.map(\.url) + plan.removals
            let seals = Set(changed.flatMap { CodeFiles.sealedFolders(around: $0, upTo: url) })
            plan.unsealed = seals.sorted { $0.count > $1.count }.map { URL(fileURLWithPath: $0) }
            for folder in plan.unsealed {
                plan.findings.append(
                    Finding(folder.path, .warning, "TH-SEAL", "its content changes, sign it again: --resign"))
            }
        } else {
            try add(url, request, to: &plan, isGiven: true)
        }
        return plan
    }

    private static func clean(_ url: URL, _ plan: inout Plan) {
        plan.removals = StoreLeftovers.all(in: url)
        for leftover in plan.removals {
            plan.findings.append(Finding(leftover.path, .note, "TH-CLEAN", "is removed, the store refuses it"))
        }
    }

    private static func add(
        _ framework: XCFramework, _ request: ThinRequest, to plan: inout Plan
    ) throws(AppToolsError) {
        let wanted = framework.libraries.filter { library in
            request.side.map { library.isSimulator == ($0 == .simulator) } ?? true
        }
        guard !wanted.isEmpty else {
            throw AppToolsError(.refused, "the xcframework has no library for the \(request.side?.rawValue ?? "")")
        }
        var processors: [String: [String]] = [:]
        for library in wanted {
            _ = try plan.boundary?.resolved(library.folder)
            var kept: Set<String> = []
            for file in CodeFiles.all(in: library.folder) {
                kept.formUnion(try add(file, request, to: &plan, isGiven: false).map(\.description))
            }
            processors[library.name] = kept.sorted()
        }
        let others = framework.libraries.filter { library in !wanted.contains { $0.name == library.name } }
        if !request.slims {
            plan.findings += others.map { Finding($0.folder.path, .note, "TH-LIBRARY", "stays; --slim drops it") }
        } else {
            plan.removals = others.map(\.folder)
        }
        let info = try framework.updated(keeping: request.slims ? wanted : framework.libraries, processors: processors)
        if !info.isInPlace { plan.changes.append(info) }
    }

    /// - Returns: The processors of the slices that stay.
    @discardableResult
    private static func add(
        _ url: URL, _ request: ThinRequest, to plan: inout Plan, isGiven: Bool
    ) throws(AppToolsError) -> [CPUType] {
        let data = try InputFile.map(url)
        let file = try naming(url.path) { () throws(AppToolsError) in try MachOFile(data) }
        let present = Set(file.slices.map(\.cpu))
        for cpu in request.kept + request.removed where isGiven && !present.contains(cpu) {
            plan.findings.append(Finding(url.path, .note, "TH-ABSENT", "has no \(cpu) slice"))
        }
        let kept = file.slices.filter(request.wants)
        for slice in kept where request.side != nil && slice.platform == nil {
            plan.findings.append(
                Finding(url.path, .warning, "TH-PLATFORM", "slice \(slice.cpu) names no platform and is kept"))
        }
        guard !kept.isEmpty else {
            throw AppToolsError(
                .refused, "no slice would be left of \(file.slices.map(Self.describe).joined(separator: ", "))",
                at: url.path,
                hint: request.kept.isEmpty
                    ? nil : "name what is not wanted instead: --remove-arch leaves files without that processor alone")
        }
        let container = kept.count == 1 && !request.keepsFat ? .thin : file.container
        guard kept.count < file.slices.count || container != file.container else { return kept.map(\.cpu) }
        let pieces = try FatWriter.pieces(kept.map { ($0, [$0.data]) }, as: container)
        plan.changes.append(FileChange(url, pieces: pieces, inside: plan.boundary))
        let names = file.slices.filter { !request.wants($0) }.map(Self.describe).joined(separator: ", ")
        plan.findings.append(
            Finding(url.path, .note, "TH-THIN", names.isEmpty ? "fat header dropped" : "drops \(names)"))
        return kept.map(\.cpu)
    }

    private static func describe(_ slice: MachOSlice) -> String {
        "\(slice.cpu) (\(slice.platform?.description ?? "platform unknown"))"
    }
}

import CordonBase
import Foundation

/// Compares a bundle's files with its sealed list.
struct SealCheck {
    let bundle: AppBundle
    let list: PropertyListValue
    var planned = PlannedFiles.present

    func findings() throws(AppToolsError) -> [Finding] {
        let tree = CodeResources.Tree(root: bundle.url, planned: planned.pieces, removed: planned.removed)
        let present = try tree.files(executable: bundle.executable?.lastPathComponent)
        let old = list["files"]?.dictionary ?? [:]
        let new = list["files2"]?.dictionary ?? [:]
        let nested = try nestedCode(new)
        var found = nested.findings
        let rules: SealRules?
        do { rules = try SealRules(list) } catch {
            rules = nil
            found.append(finding("_CodeSignature/CodeResources", "SG-SEAL", error.reason))
        }
        if let twin = CodeResources.Tree.twin(in: present) {
            found.append(
                finding(twin, "SG-NAME", "is there twice, in two forms of Unicode, of which a device sees one"))
        }
        // The sealed names by their lower case: each file that is not sealed is looked for among all of them.
        let spellings = Dictionary((new.keys + old.keys).map { ($0.lowercased(), $0) }) { first, _ in first }
        for path in present {
            guard !Self.lies(path, below: nested.paths) else { continue }
            guard let entry = new[path] ?? old[path] else {
                guard CodeResources.isSealed(path) else { continue }
                found.append(unlisted(path, isLeftOut: rules?.omits(path) ?? false, among: spellings))
                continue
            }
            if let problem = try mismatch(path, entry, old[path], tree) { found.append(problem) }
            // Systems pass over the older list where there is a newer one.
            if list["files2"] != nil, new[path] == nil, CodeResources.isSealed(path), rules?.omits(path) != true {
                found.append(finding(path, "SG-UNSEALED", "is in the older list of the seal alone"))
            }
        }
        let beside = bundle.url.appendingPathComponent("_CodeSignature").path
        for name in (try? FileManager.default.contentsOfDirectory(atPath: beside))?.sorted() ?? []
        where name != "CodeResources" {
            let reason = "lies beside the seal, which does not cover it"
            found.append(finding("_CodeSignature/\(name)", "SG-OMITTED", reason, .warning))
        }
        let all = Set(present)
        for path in Set(new.keys + old.keys).sorted() where !all.contains(path) && !nested.paths.contains(path) {
            let isOptional = (new[path] ?? old[path])?["optional"]?.boolean == true
            if !isOptional { found.append(finding(path, "SG-MISSING", "is in the seal and not in the bundle")) }
        }
        return found
    }

    /// A file that the seal does not list.
    private func unlisted(_ path: String, isLeftOut: Bool, among spellings: [String: String]) -> Finding {
        if isLeftOut {
            // Systems that ask for the standard rules refuse such a seal; others let any program change the file.
            return finding(path, "SG-OMITTED", "is left out by the seal's own rules, so nothing protects it", .warning)
        }
        let twin = spellings[path.lowercased()]
        let reason = twin.map { "is sealed as \($0): only the case differs" } ?? "is not in the seal"
        return finding(path, "SG-UNSEALED", reason)
    }

    /// The bundles that the seal names by the hash of their code instead of file by file, as rules for nested code say,
    /// with those whose code is another.
    private func nestedCode(
        _ listed: PropertyListDictionary
    ) throws(AppToolsError) -> (paths: Set<String>, findings: [Finding]) {
        var paths: Set<String> = []
        var found: [Finding] = []
        let base = bundle.url.standardizedFileURL.path
        for url in bundle.nested {
            guard let path = url.standardizedFileURL.path.path(below: base),
                let hash = listed[path]?["cdhash"]?.data
            else { continue }
            paths.insert(path)
            let slices = try codeHashes(of: AppBundle(url))
            guard slices.contains(where: { $0.hashes.contains(hash) }) else {
                found.append(finding(path, "SG-CHANGED", "holds other code than the seal says"))
                continue
            }
            found += slices.filter { !$0.hashes.contains(hash) }.map {
                let reason =
                    "the seal names its code by a hash that is not that of \($0.cpu), so it does not protect that"
                return finding(path, "SG-OMITTED", reason, .warning)
            }
        }
        return (paths, found)
    }

    /// The hashes by which systems name each slice of a bundle's code; none where there is no executable.
    private func codeHashes(of bundle: AppBundle) throws(AppToolsError) -> [(cpu: CPUType, hashes: [Data])] {
        guard let executable = bundle.executable else { return [] }
        let data = try planned.content(executable)
        let file = try naming(executable.path) { () throws(AppToolsError) in try MachOFile(data) }
        return file.slices.compactMap(\.image).map { image in
            let signature = try? ImageSignatureCheck.signature(image)
            return (image.cpu, (signature?.codeDirectories ?? []).compactMap { try? CodeDirectory($0).codeHash })
        }
    }

    private static func lies(_ path: String, below folders: Set<String>) -> Bool {
        guard !folders.isEmpty else { return false }
        var rest = path[...]
        while let end = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
            rest = rest[..<end]
            if folders.contains(String(rest)) { return true }
        }
        return false
    }

    private func mismatch(
        _ path: String, _ entry: PropertyListValue, _ old: PropertyListValue?, _ tree: CodeResources.Tree
    ) throws(AppToolsError) -> Finding? {
        if let target = entry["symlink"]?.string {
            guard tree.link(path) == target else {
                return finding(path, "SG-CHANGED", "leads elsewhere than the seal says")
            }
            guard path.isLinkOut(to: target) else { return nil }
            // What it leads to is not sealed; Apple's strict check refuses such a link, its usual one does not.
            return finding(path, "SG-LINK", "leads out of the bundle, so nothing protects what it leads to", .warning)
        }
        guard tree.link(path) == nil else {
            return finding(path, "SG-CHANGED", "is a link, and was a file when the bundle was sealed")
        }
        let content = try tree.content(path)
        let long = entry["hash2"]?.data
        let short = (old?.data ?? old?["hash"]?.data) ?? (entry.data ?? entry["hash"]?.data)
        guard long != nil || short != nil else { return finding(path, "SG-SEAL", "has no hash in the seal") }
        let isSame =
            (long.map { $0 == CodeResources.sha256(content) } ?? true)
            && (short.map { $0 == CodeResources.sha1(content) } ?? true)
        return isSame ? nil : finding(path, "SG-CHANGED", "changed after the bundle was sealed")
    }

    private func finding(
        _ path: String, _ code: String, _ message: String, _ severity: Finding.Severity = .error
    ) -> Finding {
        Finding(bundle.url.appendingPathComponent(path).path, severity, code, message)
    }
}

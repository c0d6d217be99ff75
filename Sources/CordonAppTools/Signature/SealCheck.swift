import Foundation

/// Compares a bundle's files with its sealed list.
struct SealCheck {
    let bundle: AppBundle
    let list: PropertyListValue
    /// Content that is planned and not yet written, by resolved path.
    var planned: [String: [Data]] = [:]

    func findings() throws(AppToolsError) -> [Finding] {
        let tree = CodeResources.Tree(root: bundle.url, planned: planned)
        let present = tree.files(executable: bundle.executable?.lastPathComponent)
        let old = list["files"]?.dictionary ?? [:]
        let new = list["files2"]?.dictionary ?? [:]
        var found: [Finding] = []
        for path in present {
            guard CodeResources.isSealed(path) || path == "Info.plist" || path == "PkgInfo" else { continue }
            guard let entry = new[path] ?? old[path] else {
                let twin = (new.keys + old.keys).first { $0.lowercased() == path.lowercased() }
                let reason = twin.map { "is sealed as \($0): only the case differs" } ?? "is not in the seal"
                found.append(finding(path, "SG-UNSEALED", reason))
                continue
            }
            if let problem = try mismatch(path, entry, old[path], tree) { found.append(problem) }
        }
        let all = Set(present)
        for path in Set(new.keys + old.keys).sorted() where !all.contains(path) {
            let isOptional = (new[path] ?? old[path])?["optional"]?.boolean == true
            if !isOptional { found.append(finding(path, "SG-MISSING", "is in the seal and not in the bundle")) }
        }
        return found
    }

    private func mismatch(
        _ path: String, _ entry: PropertyListValue, _ old: PropertyListValue?, _ tree: CodeResources.Tree
    ) throws(AppToolsError) -> Finding? {
        if let target = entry["symlink"]?.string {
            return tree.link(path) == target ? nil : finding(path, "SG-CHANGED", "leads elsewhere than the seal says")
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

    private func finding(_ path: String, _ code: String, _ message: String) -> Finding {
        Finding(bundle.url.appendingPathComponent(path).path, .error, code, message)
    }
}

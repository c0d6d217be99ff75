import Foundation

/// Checks that what the images of an app want to load is there and fits (TL-FP-33).
struct BundleLibraries {
    let root: URL
    let names: NamingProfile
    let targets: [PatchTarget]
    /// How much it matters that something does not fit: a build may embed it after patching, a finished app would not
    /// start.
    let severity: Finding.Severity

    /// - Parameter isAdding: Whether code is about to load the framework that patching adds.
    /// - Throws: `refused` when that framework is not there and the app was linked with another one of the vendor's, or
    ///   is there and does not fit the code that would load it.
    func findings(isAdding: Bool) throws(AppToolsError) -> [Finding] {
        guard AppBundle.kind(of: root) == .app else { return [] }
        var found: [Finding] = []
        var embedded: [String: [MachOImage]] = [:]
        let loaded = loadedFrameworks()
        let needed = isAdding || loaded.isEmpty ? loaded.union([names.frameworkName]) : loaded
        for name in needed.sorted() {
            embedded[name] = images(root.appendingPathComponent("Frameworks/\(name).framework/\(name)"))
            guard embedded[name] == nil else { continue }
            found.append(
                Finding(
                    root.path, severity, "FP-MISSING",
                    "\(name).framework is not in Frameworks, the app would not start"))
        }
        if isAdding, embedded[names.frameworkName] == nil,
            let other = loaded.sorted().first(where: { $0 != names.frameworkName })
        {
            throw AppToolsError(
                .refused,
                "the app is linked with \(other) and does not contain \(names.frameworkName).framework, it would not start",
                at: root.path)
        }
        guard found.isEmpty else { return found }
        let running = try AppBundle(root).executable.flatMap(images) ?? []
        for target in targets {
            // Slices for other systems than the app's own executable are never loaded.
            for image in images(target.url) ?? []
            where image.is64Bit && running.contains(where: { $0.cpu == image.cpu && $0.platform == image.platform }) {
                let loaded = ImagePatch(image: image, names: names).protection.first ?? names.frameworkName
                if let available = embedded[loaded] {
                    if let problem = problem(of: image, at: target.url.path, loaded, available) {
                        guard !isAdding else { throw AppToolsError(.refused, problem.message, at: problem.path) }
                        found.append(problem)
                    }
                }
                found += LibraryPaths(target: target, image: image, app: root).missing.map {
                    Finding(target.url.path, severity, "FP-PATH", "\(image.cpu): \($0) leads to no file in the app")
                }
            }
        }
        return found
    }

    /// The vendor's frameworks that the app loads.
    private func loadedFrameworks() -> Set<String> {
        Set(
            targets.flatMap { target in
                (images(target.url) ?? []).flatMap { ImagePatch(image: $0, names: names).protection }
            })
    }

    private func images(_ url: URL) -> [MachOImage]? {
        guard let data = try? InputFile.map(url), let file = try? MachOFile(data) else { return nil }
        return file.slices.compactMap(\.image)
    }

    private func problem(
        of image: MachOImage, at path: String, _ framework: String, _ available: [MachOImage]
    ) -> Finding? {
        guard let match = available.first(where: { $0.cpu == image.cpu && $0.platform == image.platform }) else {
            let platform = image.platform?.description ?? "an unknown platform"
            return Finding(path, severity, "FP-SLICE", "\(framework) has no \(image.cpu) code for \(platform)")
        }
        guard match.minimumVersion ?? 0 <= image.minimumVersion ?? .max else {
            return Finding(
                path, severity, "FP-MINIMUM", "\(framework) needs a newer system than this \(image.cpu) image")
        }
        return nil
    }
}

import Foundation

/// Checks that what the images of an app want to load is there and fits (TL-FP-33).
struct BundleLibraries {
    let root: URL
    let names: NamingProfile
    let targets: [PatchTarget]
    /// How much a missing framework matters: a build may embed it after patching, a finished app would not start.
    let severityOfMissing: Finding.Severity

    func findings() -> [Finding] {
        guard AppBundle.kind(of: root) == .app else { return [] }
        var found: [Finding] = []
        var embedded: [String: [MachOImage]] = [:]
        for name in loadedFrameworks() {
            embedded[name] = images(root.appendingPathComponent("Frameworks/\(name).framework/\(name)"))
            guard embedded[name] == nil else { continue }
            found.append(
                Finding(
                    root.path, severityOfMissing, "FP-MISSING",
                    "\(name).framework is not in Frameworks, the app would not start"))
        }
        guard found.isEmpty else { return found }
        for target in targets {
            for image in images(target.url) ?? [] where image.is64Bit {
                let loaded = ImagePatch(image: image, names: names).protection.first ?? names.frameworkName
                found += problems(of: image, at: target.url.path, loaded, embedded[loaded] ?? [])
                found += LibraryPaths(target: target, image: image).missing.map {
                    Finding(target.url.path, .error, "FP-PATH", "\(image.cpu): \($0) leads to no file in the app")
                }
            }
        }
        return found
    }

    /// The vendor's frameworks that the app loads; the one that patching adds when it loads none.
    private func loadedFrameworks() -> [String] {
        let loaded = targets.flatMap { target in
            (images(target.url) ?? []).flatMap { ImagePatch(image: $0, names: names).protection }
        }
        return loaded.isEmpty ? [names.frameworkName] : Set(loaded).sorted()
    }

    private func images(_ url: URL) -> [MachOImage]? {
        guard let data = try? InputFile.map(url), let file = try? MachOFile(data) else { return nil }
        return file.slices.compactMap(\.image)
    }

    private func problems(
        of image: MachOImage, at path: String, _ framework: String, _ available: [MachOImage]
    ) -> [Finding] {
        guard let match = available.first(where: { $0.cpu == image.cpu && $0.platform == image.platform }) else {
            let platform = image.platform?.description ?? "an unknown platform"
            return [
                Finding(path, .error, "FP-SLICE", "\(framework) has no \(image.cpu) code for \(platform)")
            ]
        }
        guard match.minimumVersion ?? 0 <= image.minimumVersion ?? .max else {
            return [Finding(path, .error, "FP-MINIMUM", "\(framework) needs a newer system than this image")]
        }
        return []
    }
}

import Foundation

/// Checks that what the images of an app want to load is there and fits (TL-FP-33).
struct BundleLibraries {
    let root: URL
    let names: NamingProfile
    let targets: [PatchTarget]

    func findings() -> [Finding] {
        guard AppBundle.kind(of: root) == .app else { return [] }
        let embedded = root.appendingPathComponent("Frameworks/\(names.frameworkName).framework/\(names.frameworkName)")
        guard let data = try? InputFile.map(embedded), let file = try? MachOFile(data) else {
            return [
                Finding(
                    root.path, .warning, "FP-MISSING",
                    "\(names.frameworkName).framework is not in Frameworks, the app would not start")
            ]
        }
        let available = file.slices.compactMap(\.image)
        var found: [Finding] = []
        for target in targets {
            guard let data = try? InputFile.map(target.url), let file = try? MachOFile(data) else { continue }
            for image in file.slices.compactMap(\.image) where image.is64Bit {
                found += problems(of: image, at: target.url.path, available)
                found += LibraryPaths(target: target, image: image).missing.map {
                    Finding(target.url.path, .error, "FP-PATH", "\(image.cpu): \($0) leads to no file in the app")
                }
            }
        }
        return found
    }

    private func problems(of image: MachOImage, at path: String, _ available: [MachOImage]) -> [Finding] {
        guard let match = available.first(where: { $0.cpu == image.cpu && $0.platform == image.platform }) else {
            let platform = image.platform?.description ?? "an unknown platform"
            return [
                Finding(path, .error, "FP-SLICE", "\(names.frameworkName) has no \(image.cpu) code for \(platform)")
            ]
        }
        guard match.minimumVersion ?? 0 <= image.minimumVersion ?? .max else {
            return [Finding(path, .error, "FP-MINIMUM", "\(names.frameworkName) needs a newer system than this image")]
        }
        return []
    }
}

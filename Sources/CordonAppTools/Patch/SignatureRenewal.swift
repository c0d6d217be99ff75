import Foundation

/// Signs a patched app again, and refuses what it cannot judge: what comes out is what ``SignatureVerifier`` calls
/// valid, or nothing is written (TL-FP-02, TL-SG-10, TL-SG-11).
struct SignatureRenewal {
    let url: URL
    let names: NamingProfile
    let options: CodeSigner.Options

    /// A code file, with the bundle whose main executable it is.
    private struct Code {
        let url: URL
        let bundle: AppBundle?
    }

    private enum Maker {
        case unsigned, linker, person
    }

    func renewed(_ plan: FrameworkPatcher.Plan) throws(AppToolsError) -> FrameworkPatcher.Plan {
        let all = try allCode()
        let isSigned = try isSigned(all)
        var result = plan
        result.changes = try withLinkersHashes(all, plan.changes)
        let isUnfit = try firstProblem(url, result.changes) != nil
        let lacksIdentity = try lacksIdentity(all, result.changes)
        if isUnfit || lacksIdentity {
            let signing = try CodeSigner(options).plan(url, over: result.changes)
            result.changes = signing.changes
            result.findings += signing.findings
            if let problem = try firstProblem(url, result.changes) {
                throw AppToolsError(.refused, "the new signature would not verify: \(problem)", at: url.path)
            }
        }
        try checkBundleAround(result.changes)
        if !isSigned, options.identity == nil, !result.changes.isEmpty {
            result.findings.append(
                Finding(
                    url.path, .note, "FP-RESIGN",
                    "only the linker had signed this, so it is signed ad hoc; a device wants a certificate's"))
        }
        return result
    }

    /// Makes sure that the seal of the bundle around what is signed still fits.
    /// - Throws: `refused` with the bundle to name instead.
    private func checkBundleAround(_ changes: [FileChange]) throws(AppToolsError) {
        guard !changes.allSatisfy(\.isInPlace), let around = AppBundle.outermost(around: url) else { return }
        guard let problem = try firstProblem(around, changes) else { return }
        throw AppToolsError(
            .refused, "a new signature must cover the bundle around it: \(problem)", at: url.path,
            hint: "cordon patch --resign \(around.path)")
    }

    private func allCode() throws(AppToolsError) -> [Code] {
        guard InputFile.kind(of: url).isFolder else {
            let around = try? AppBundle(url.deletingLastPathComponent())
            return [
                Code(url: url, bundle: around?.executable?.lastPathComponent == url.lastPathComponent ? around : nil)
            ]
        }
        return try AppBundle.insideOut(url).flatMap { bundle in
            bundle.looseCode.map { Code(url: $0, bundle: nil) }
                + (bundle.executable.map { [Code(url: $0, bundle: bundle)] } ?? [])
        }
    }

    /// Whether a person or a build signed any of the code.
    /// - Throws: `refused` for a signature that cannot be read, or that did not fit even without the patch.
    private func isSigned(_ all: [Code]) throws(AppToolsError) -> Bool {
        var signed: [Code] = []
        for code in all {
            var isSigned = false
            for image in try images(code, .present) where try maker(image, code) == .person {
                isSigned = true
                guard let problem = try errors(image, code).first else { continue }
                if let original = original(image), try errors(original, code).isEmpty { continue }
                throw refusal(code.url.path, "\(image.cpu): \(problem)")
            }
            if isSigned { signed.append(code) }
        }
        let paths = Set(all.map(\.url.path))
        for code in signed {
            // The code files inside were judged for themselves.
            guard let problem = try sealErrors(code).first(where: { !paths.contains($0.path) }) else { continue }
            throw refusal(problem.path, problem.message)
        }
        return !signed.isEmpty
    }

    private func refusal(_ path: String, _ problem: String) -> AppToolsError {
        AppToolsError(
            .refused, "the signature does not fit what is there: \(problem)", at: path,
            hint: "look into it; cordon sign signs what is there, and without --resign only the code is patched")
    }

    private func maker(_ image: MachOImage, _ code: Code) throws(AppToolsError) -> Maker {
        do {
            guard let signature = try ImageSignatureCheck.signature(image) else { return .unsigned }
            // Without a directory there is nothing to judge: an empty one cannot be read.
            let isLinkers =
                try CodeDirectory(signature.codeDirectories.first ?? Data()).flags & CodeDirectory.Flag.linkerSigned
                != 0
            return isLinkers && signature.content(SuperBlob.Slot.cms)?.isEmpty ?? true ? .linker : .person
        } catch {
            throw refusal(code.url.path, "\(image.cpu): it cannot be read: \(error.reason)")
        }
    }

    /// The image as it was before this tool patched it; nil when it did not.
    private func original(_ image: MachOImage) -> MachOImage? {
        let patch = ImagePatch(image: image, names: names)
        guard patch.state.0 == .patched, let head = try? patch.removed() else { return nil }
        return try? MachOImage(head + image.data.dropFirst(head.count))
    }

    private func images(_ code: Code, _ files: PlannedFiles) throws(AppToolsError) -> [MachOImage] {
        let data = try files.content(code.url)
        return try naming(code.url.path) { () throws(AppToolsError) in try MachOFile(data).slices.compactMap(\.image) }
    }

    private func errors(_ image: MachOImage, _ code: Code) throws(AppToolsError) -> [String] {
        let seal = try sealFile(code).flatMap { (file) throws(AppToolsError) in
            try PlannedFiles.present.contentIfPresent(file)
        }
        let info = try code.bundle.map { (bundle) throws(AppToolsError) in
            try InputFile.map(bundle.url.appendingPathComponent("Info.plist"))
        }
        return ImageSignatureCheck(image: image, info: info, resources: seal).problems()
            .filter { $0.severity == .error }.map { "\($0.code): \($0.message)" }
    }

    private func sealFile(_ code: Code) -> URL? {
        code.bundle?.url.appendingPathComponent("_CodeSignature/CodeResources")
    }

    private func sealErrors(_ code: Code) throws(AppToolsError) -> [Finding] {
        guard let bundle = code.bundle, let file = sealFile(code) else { return [] }
        guard let seal = try PlannedFiles.present.contentIfPresent(file) else {
            return [Finding(bundle.url.path, .error, "SG-NOSEAL", "it has no _CodeSignature/CodeResources")]
        }
        let list = try naming(file.path) { () throws(AppToolsError) in try PropertyList(reading: seal).value }
        return try SealCheck(bundle: bundle, list: list).findings().filter { $0.severity == .error }
    }

    /// The first thing that `cordon verify` would call an error once the planned files are written.
    private func firstProblem(_ place: URL, _ changes: [FileChange]) throws(AppToolsError) -> String? {
        let found = try SignatureVerifier().findings(place, over: PlannedFiles(changes))
        return found.first { $0.severity == .error }.map { "\($0.path): \($0.message)" }
    }

    /// Whether an identity is named and something that is signed has no certificate's signature.
    private func lacksIdentity(_ all: [Code], _ changes: [FileChange]) throws(AppToolsError) -> Bool {
        guard options.identity != nil else { return false }
        let files = PlannedFiles(changes)
        for code in all {
            let images = try images(code, files)
            if images.contains(where: { !$0.isSymbolFile && CMSCheck.certificate(of: $0) == nil }) { return true }
        }
        return false
    }

    /// The changes, with page hashes in the linker's signatures that fit the code as it will be. A loader that finds a
    /// signature wants it to fit.
    private func withLinkersHashes(_ all: [Code], _ changes: [FileChange]) throws(AppToolsError) -> [FileChange] {
        let files = PlannedFiles(changes)
        var result = changes
        for code in all {
            var data = try files.content(code.url)
            let start = data.startIndex
            var isChanged = false
            for image in try images(code, files) where try maker(image, code) == .linker {
                let check = ImageSignatureCheck(image: image, info: nil, resources: nil)
                for blob in try ImageSignatureCheck.signature(image)?.codeDirectories ?? [] {
                    let directory = try CodeDirectory(blob)
                    for (page, hash) in check.changedPages(directory) {
                        // Slices of one piece of data share its indices.
                        let place = directory.pageHash(page).startIndex - start
                        data.replaceSubrange(data.startIndex + place..<data.startIndex + place + hash.count, with: hash)
                        isChanged = true
                    }
                }
            }
            guard isChanged else { continue }
            result.removeAll { $0.url == code.url }
            result.append(FileChange(code.url, data, inside: WriteBoundary(of: url)))
        }
        return result
    }
}

public import Foundation

/// Recomputes everything a code signature claims and explains each mismatch (TL-SG-09). Trust in a certificate is
/// judged by ``SignatureTrust``.
public struct SignatureVerifier: Sendable {
    private let now: Date

    /// Makes a verifier that judges dates at a time.
    public init(now: Date = Date()) {
        self.now = now
    }

    /// What was found in a bundle with all code in it, or in one code file. No error among the findings means valid.
    /// - Throws: ``AppToolsError`` `missing` or `malformed` when there is nothing that could be signed.
    public func findings(_ url: URL) throws(AppToolsError) -> [Finding] {
        try findings(url, over: .present)
    }

    /// The same for files that are planned and not yet written.
    func findings(_ url: URL, over files: PlannedFiles) throws(AppToolsError) -> [Finding] {
        guard InputFile.kind(of: url).exists else { throw AppToolsError(.missing, "does not exist", at: url.path) }
        guard InputFile.kind(of: url).isFolder else { return try codeFile(url, files, info: nil, resources: nil) }
        var found: [Finding] = []
        let bundles = try AppBundle.insideOut(url)
        for bundle in bundles {
            for file in bundle.looseCode { found += try codeFile(file, files, info: nil, resources: nil) }
            found += try self.bundle(bundle, files)
        }
        return try found + strangers(bundles, files)
    }

    /// Code that another team signed than the app's own executable, or none: devices load none of that, but what is their
    /// vendor's. Simulators load all.
    private func strangers(_ bundles: [AppBundle], _ files: PlannedFiles) throws(AppToolsError) -> [Finding] {
        guard
            let own = try bundles.last?.executable.flatMap({ (url) throws(AppToolsError) in
                try signers(url, files).first
            }),
            case .team = own
        else { return [] }
        var found: [Finding] = []
        for file in bundles.flatMap({ $0.looseCode + ($0.executable.map { [$0] } ?? []) }) {
            let others = try signers(file, files).filter { $0 != own }
            guard let other = others.first(where: { $0 != .vendor }) ?? others.first else { continue }
            let severity = other == .vendor ? Finding.Severity.warning : .error
            found.append(Finding(file.path, severity, "SG-TEAM", "is signed by \(other), and the app by \(own)"))
        }
        return found
    }

    /// Who signed code, as the code says.
    private enum Signer: Equatable, CustomStringConvertible {
        case team(String)
        case vendor, nobody

        var description: String {
            switch self {
            case .team(let name): name
            case .vendor: "the system's vendor, as it says"
            case .nobody: "no team"
            }
        }
    }

    /// Who signed the images of a file for devices, as their signatures say.
    private func signers(_ url: URL, _ files: PlannedFiles) throws(AppToolsError) -> [Signer] {
        let data = try files.content(url)
        let file = try naming(url.path) { () throws(AppToolsError) in try MachOFile(data) }
        return file.slices.compactMap(\.image).filter { !$0.isSymbolFile && $0.platform?.isSimulator != true }
            .compactMap { image in
                guard let signature = try? ImageSignatureCheck.signature(image),
                    let first = signature.codeDirectories.first,
                    let directory = try? CodeDirectory(first)
                else { return nil }
                // What an ad-hoc signature calls itself, nobody signed.
                guard CMSCheck.certificate(of: image) != nil else { return .nobody }
                if let team = directory.team { return .team(team) }
                return directory.isOfPlatform ? .vendor : .nobody
            }
    }

    private func bundle(_ bundle: AppBundle, _ files: PlannedFiles) throws(AppToolsError) -> [Finding] {
        guard let executable = bundle.executable else {
            guard let missing = bundle.missingExecutable else {
                return [Finding(bundle.url.path, .note, "SG-RESOURCES", "has no executable and is not looked into")]
            }
            return [
                Finding(
                    bundle.url.path, .error, "SG-EXECUTABLE",
                    "the executable \(missing) is not there, so nothing is signed")
            ]
        }
        let infoFile = bundle.url.appendingPathComponent("Info.plist")
        let info = try files.content(infoFile)
        let sealFile = bundle.url.appendingPathComponent("_CodeSignature/CodeResources")
        let seal = try files.contentIfPresent(sealFile)
        var found = try codeFile(executable, files, info: info, resources: seal)
        found += [executable, infoFile, sealFile].filter { InputFile.entry(at: $0) == .link }.map {
            Finding($0.path, .error, "SG-LINK", "is a link, so nothing protects what it leads to")
        }
        if let seal {
            let list = try naming(sealFile.path) { () throws(AppToolsError) in try PropertyList(reading: seal).value }
            found += try SealCheck(bundle: bundle, list: list, planned: files).findings()
        } else if !found.contains(where: { $0.code == "SG-UNSIGNED" }) {
            found.append(Finding(bundle.url.path, .error, "SG-NOSEAL", "has no _CodeSignature/CodeResources"))
        }
        let profile = bundle.url.appendingPathComponent("embedded.mobileprovision")
        if InputFile.kind(of: profile).exists {
            found += try ProfileCheck(profile: profile, executable: executable, files: files, now: now).findings()
        }
        return found
    }

    private func codeFile(
        _ url: URL, _ files: PlannedFiles, info: Data?, resources: Data?
    ) throws(AppToolsError) -> [Finding] {
        let data = try files.content(url)
        let file = try naming(url.path) { () throws(AppToolsError) in try MachOFile(data) }
        var found: [Finding] = []
        if file.hasBytesOutsideSlices {
            found.append(Finding(url.path, .error, "SG-LIMIT", "bytes outside its slices are covered by no signature"))
        }
        for slice in file.slices {
            guard let image = slice.image else {
                found.append(
                    Finding(
                        url.path, .error, "SG-UNSIGNED", "\(slice.cpu): is a static archive, which has no signature"))
                continue
            }
            if image.isSymbolFile {
                guard info != nil else { continue }
                // No system starts it, and who asks for the certificate and the team of code passes over symbols.
                found.append(
                    Finding(
                        url.path, .error, "SG-EXECUTABLE",
                        "\(slice.cpu): is not an executable: it says it holds debug symbols"))
            }
            let check = ImageSignatureCheck(image: image, info: info, resources: resources)
            found += check.problems().map {
                Finding(url.path, $0.severity, $0.code, "\(slice.cpu): \($0.message)")
            }
            if let certificate = CMSCheck.certificate(of: image), !certificate.validity.contains(now) {
                let state = certificate.validity.lowerBound > now ? "is not valid yet" : "has expired"
                found.append(Finding(url.path, .warning, "SG-DATE", "\(slice.cpu): the certificate \(state)"))
            }
        }
        return found
    }
}

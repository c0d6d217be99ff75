import Foundation

/// The files of one signing run while it is planned.
struct SigningSession {
    let options: CodeSigner.Options
    private(set) var findings: [Finding] = []
    /// Planned content by resolved path, in the order it was planned.
    private var planned: [String: [Data]] = [:]
    private var order: [URL] = []
    private let boundary: WriteBoundary?
    private let removed: [String]

    init(_ url: URL, options: CodeSigner.Options, earlier: [FileChange], removed: [URL]) {
        self.options = options
        boundary = WriteBoundary(of: url)
        self.removed = removed.map(Self.key)
        for change in earlier { put(change.pieces, at: change.url) }
    }

    var changes: [FileChange] {
        order.compactMap { url in planned[Self.key(url)].map { FileChange(url, pieces: $0, inside: boundary) } }
    }

    private static func key(_ url: URL) -> String { url.resolvingSymlinksInPath().path }

    private mutating func put(_ pieces: [Data], at url: URL) {
        if planned.updateValue(pieces, forKey: Self.key(url)) == nil { order.append(url) }
    }

    private func content(_ url: URL) throws(AppToolsError) -> Data {
        guard let pieces = planned[Self.key(url)] else { return try InputFile.map(url) }
        return pieces.count == 1 ? pieces[0] : pieces.reduce(into: Data()) { $0 += $1 }
    }

    mutating func sign(_ bundle: AppBundle, isOutermost: Bool) throws(AppToolsError) {
        try bundle.checkExecutable()
        guard let executable = bundle.executable else {
            findings.append(Finding(bundle.url.path, .note, "SG-RESOURCES", "has no executable and is left as it is"))
            return
        }
        let tree = CodeResources.Tree(
            root: bundle.url,
            planned: Dictionary(planned.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first }),
            removed: removed)
        let seal = try CodeResources.generate(tree, executable: executable.lastPathComponent)
        let sealFile = bundle.url.appendingPathComponent("_CodeSignature/CodeResources")
        put([seal], at: sealFile)
        try sign(executable, bundle: (bundle, seal), isOutermost: isOutermost)
    }

    mutating func sign(
        _ url: URL, bundle: (AppBundle, Data)?, isOutermost: Bool
    ) throws(AppToolsError) {
        let data = try content(url)
        let file = try naming(url.path) { () throws(AppToolsError) in try MachOFile(data) }
        guard !file.slices.contains(where: { $0.image?.isSymbolFile == true }) else {
            guard !isOutermost else {
                throw AppToolsError(.unsupported, "holds debug symbols, which are not signed", at: url.path)
            }
            findings.append(Finding(url.path, .note, "SG-SYMBOLS", "holds debug symbols and is left as it is"))
            return
        }
        guard !file.slices.contains(where: { $0.image?.isRelocatable == true }) else {
            throw AppToolsError(
                .unsupported, "holds a relocatable object, which is for a linker and cannot be signed", at: url.path)
        }
        guard !file.hasBytesOutsideSlices else {
            throw AppToolsError(.refused, "has bytes outside its slices, which would be lost", at: url.path)
        }
        let info = try bundle.map { (bundle, _) throws(AppToolsError) in
            try content(bundle.url.appendingPathComponent("Info.plist"))
        }
        var pieces: [(slice: MachOSlice, data: [Data])] = []
        for slice in file.slices {
            guard let image = slice.image else {
                throw AppToolsError(.unsupported, "a static archive cannot be signed", at: url.path)
            }
            let signed = try naming("\(url.path) (\(slice.cpu))") { () throws(AppToolsError) in
                let content = try signedContent(image, url, bundle, info, isOutermost: isOutermost)
                return try ImageSigner(image: image, content: content, identity: options.identity).signed()
            }
            pieces.append((slice, signed))
        }
        put(try FatWriter.pieces(pieces, as: file.container), at: url)
        findings.append(
            Finding(
                url.path, .note, "SG-SIGNED", options.identity == nil ? "signed ad hoc" : "signed with a certificate"))
    }

    private func signedContent(
        _ image: MachOImage, _ url: URL, _ bundle: (AppBundle, Data)?, _ info: Data?, isOutermost: Bool
    ) throws(AppToolsError) -> ImageSigner.Content {
        let old = try ImageSignatureCheck.signature(image)
        let directory = try old?.codeDirectories.first.map { (blob) throws(AppToolsError) in try CodeDirectory(blob) }
        let isCertified = (old?.content(SuperBlob.Slot.cms)?.count ?? 0) > 0
        if options.identity == nil, !options.allowsDowngrade, isCertified {
            throw AppToolsError(
                .refused, "carries a certificate's signature, an ad-hoc one would be weaker",
                hint: "give the certificate, or --adhoc")
        }
        let isLinkerSigned = (directory?.flags ?? 0) & CodeDirectory.Flag.linkerSigned != 0
        let kept = isLinkerSigned ? nil : directory?.identifier
        let fallback = bundle?.0.identifier ?? kept ?? url.deletingPathExtension().lastPathComponent
        let identifier = (isOutermost ? options.identifier : nil) ?? fallback
        guard !BuildVariables.isIn(identifier) else {
            throw AppToolsError(
                .refused, "the identifier \(identifier) is a build variable",
                hint: "sign the built app, or --identifier")
        }
        return ImageSigner.Content(
            identifier: identifier, entitlements: try entitlements(image, bundle?.0, old, isOutermost: isOutermost),
            info: info, resources: bundle?.1,
            // What a certificate's signature demands of later versions, an ad-hoc one would not meet itself.
            requirements: options.identity.map { $0.designatedRequirement(of: identifier) }
                ?? (isCertified ? nil : old?[SuperBlob.Slot.requirements]),
            flags: (directory?.flags ?? 0) & CodeDirectory.Flag.asked, runtime: directory?.runtime ?? 0,
            constraints: (old?.blobs ?? []).filter { SuperBlob.Slot.constraints.contains($0.slot) }.sorted {
                $0.slot < $1.slot
            })
    }

    /// The given entitlements or the present ones; only main executables have any.
    private func entitlements(
        _ image: MachOImage, _ bundle: AppBundle?, _ old: SuperBlob?, isOutermost: Bool
    ) throws(AppToolsError) -> Data? {
        guard image.fileType == 2 else { return nil }
        let given = isOutermost ? options.entitlements : nil
        // A blob without content counts as none.
        let present = old?.content(SuperBlob.Slot.entitlements).flatMap { $0.isEmpty ? nil : $0 }
        if given == nil, present == nil, old?.content(SuperBlob.Slot.derEntitlements)?.isEmpty == false {
            throw AppToolsError(
                .refused, "has entitlements in DER alone, which would be lost", hint: "give them: --entitlements FILE")
        }
        guard let data = given ?? present else { return nil }
        return try SigningEntitlements(bundle: bundle, team: options.identity?.team, defines: options.defines)
            .resolved(data)
    }
}

public import Foundation

/// Makes an app's own code load the protection framework: one load command an image, nothing else (TL-FP).
public struct FrameworkPatcher: Sendable {
    /// What to do.
    public enum Action: String, Sendable, Codable {
        /// Insert the load command where it is missing.
        case install
        /// Take inserted commands out again.
        case remove
        /// Only say how each image stands.
        case verify
    }

    /// How one image of one file stands, or will stand after the change.
    public struct ImageReport: Sendable, Codable, Hashable {
        /// The file.
        public let path: String
        /// The processor of the slice.
        public let cpu: String
        /// `patched`, `linked`, `unpatched`, `foreign`, `damaged` or `skipped`.
        public let state: String
        /// The reason for the state.
        public let detail: String
        /// Bytes of header padding left.
        public let padding: Int
        /// Whether this run changes the image.
        public let changes: Bool
        /// What every changed byte means, one line a range (TL-FP-04).
        public let explanation: [String]

        /// The report with its place as a person knows it.
        public func shown(in package: AppPackage) -> Self {
            Self(
                path: package.shown(path), cpu: cpu, state: state, detail: detail, padding: padding, changes: changes,
                explanation: explanation)
        }
    }

    /// Everything one run would do.
    public struct Plan: Sendable {
        fileprivate let boundary: WriteBoundary?
        /// The files to write.
        public internal(set) var changes: [FileChange] = []
        /// Each image, in the order visited.
        public internal(set) var images: [ImageReport] = []
        /// What breaks the loader's rules.
        public internal(set) var findings: [Finding] = []

        /// Whether every image that should load the framework does, and nothing is damaged (exit status of verify).
        public var isProtected: Bool {
            images.allSatisfy { ["patched", "linked", "skipped"].contains($0.state) }
                && images.contains { $0.state != "skipped" } && !findings.contains { $0.severity == .error }
        }
    }

    /// What no load command can reach (TL-FP-15).
    public static let limits = [
        "the command only makes the framework load; no function of the system is redirected by it",
        "calls inside system frameworks, Objective-C methods and symbols looked up at run time stay as they are",
    ]

    /// Executables, libraries and bundles.
    private static let fileTypes: Set<UInt32> = [2, 6, 8]

    let names: NamingProfile
    /// Give up superfluous load commands where room is short (TL-FP-22).
    let reusesCommands: Bool

    /// Makes a patcher for the framework of a naming profile.
    ///
    /// - Parameter reusesCommands: Whether the commands for the source version and an empty data-in-code table may be
    ///   given up for room. Only a ``PatchReceipt`` brings them back.
    public init(names: NamingProfile, reusesCommands: Bool = false) {
        self.names = names
        self.reusesCommands = reusesCommands
    }

    /// Plans the whole work; nothing is written. Any image that must be refused refuses everything.
    /// - Throws: ``AppToolsError`` `refused` with file, processor and what to do; `malformed` or `missing` for bad input.
    public func plan(_ action: Action, _ url: URL) throws(AppToolsError) -> Plan {
        var plan = Plan(boundary: WriteBoundary(of: url))
        let targets = try PatchTarget.all(url, names: names)
        for target in targets { try add(target, action, to: &plan) }
        guard plan.images.contains(where: { $0.state != "skipped" }) else {
            throw AppToolsError(.unsupported, "holds no code that could load \(names.frameworkName)", at: url.path)
        }
        if AppBundle.kind(of: url) != nil {
            plan.findings += try AppBundle(url).companions.map {
                Finding($0.path, .note, "FP-COMPANION", "is an app of its own and is not patched")
            }
        }
        let libraries = BundleLibraries(
            root: url, names: names, targets: targets, severity: action == .verify ? .error : .warning)
        plan.findings += try libraries.findings(isAdding: action == .install && !plan.changes.isEmpty)
        return plan
    }

    /// The plan with new signatures wherever an earlier or this patch breaks one, or there is none (TL-FP-02).
    /// ``SignatureVerifier`` finds no error in the result.
    ///
    /// A single file that only the linker signed keeps that signature, with new page hashes. An identity that is named
    /// signs all code that has no certificate's signature.
    /// - Throws: ``AppToolsError`` `refused` when a present signature cannot be judged or did not fit before the patch,
    ///   when a certificate's signature would become an ad-hoc one, and when the bundle around would become invalid.
    public func resigned(
        _ plan: Plan, _ url: URL, options: CodeSigner.Options
    ) throws(AppToolsError) -> Plan {
        try SignatureRenewal(url: url, names: names, options: options).renewed(plan)
    }

    private func add(_ target: PatchTarget, _ action: Action, to plan: inout Plan) throws(AppToolsError) {
        let data = try InputFile.map(target.url)
        let file = try naming(target.url.path) { () throws(AppToolsError) in try MachOFile(data) }
        var pieces: [(slice: MachOSlice, data: [Data])] = []
        var isChanged = false
        for slice in file.slices {
            let place = "\(target.url.path) (\(slice.cpu))"
            let (report, head) = try naming(place) { () throws(AppToolsError) in try work(target, slice, action) }
            plan.images.append(report)
            guard let head else {
                pieces.append((slice, [slice.data]))
                continue
            }
            isChanged = true
            pieces.append((slice, [head, slice.data.dropFirst(head.count)]))
            let result = try naming(place) { () throws(AppToolsError) in
                try MachOImage(head, size: slice.data.count)
            }
            guard ImageInvariants.violations(result).isEmpty || action == .remove else {
                let reason = ImageInvariants.violations(result).joined(separator: "; ")
                throw AppToolsError(.refused, "the loader would reject the result: \(reason)", at: place)
            }
        }
        if isChanged {
            plan.changes.append(FileChange(target.url, pieces: Self.inPlace(file, pieces), inside: plan.boundary))
        }
        for image in file.slices.compactMap(\.image) where !image.is64Bit && Self.fileTypes.contains(image.fileType) {
            let finding = Finding(
                target.url.path, .warning, "FP-32BIT",
                "the \(image.cpu) slice is left as it is: cordon thin --remove-arch \(image.cpu)")
            if action != .remove { plan.findings.append(finding) }
        }
        guard action == .verify else { return }
        for image in file.slices.compactMap(\.image) {
            plan.findings += ImageInvariants.violations(image).map {
                Finding(target.url.path, .error, "FP-LOADER", "\(image.cpu): \($0)")
            }
            plan.findings += ImageInvariants.tolerated(image).map {
                Finding(
                    target.url.path, .note, "FP-LOADER", "\(image.cpu): \($0), which the loader refuses from SDK 26 on")
            }
        }
    }

    /// Slices keep their sizes, so the file keeps its layout to the byte.
    private static func inPlace(_ file: MachOFile, _ pieces: [(slice: MachOSlice, data: [Data])]) -> [Data] {
        guard file.container != .thin else { return pieces.flatMap(\.data) }
        var result: [Data] = []
        var position = 0
        for (slice, data) in pieces.sorted(by: { $0.slice.offset < $1.slice.offset }) {
            result.append(file.data.dropFirst(position).prefix(slice.offset - position))
            result += data
            position = slice.offset + slice.data.count
        }
        return result + [file.data.dropFirst(position)]
    }

    private func work(
        _ target: PatchTarget, _ slice: MachOSlice, _ action: Action
    ) throws(AppToolsError) -> (ImageReport, Data?) {
        func report(
            _ state: String, _ detail: String, _ padding: Int = 0, changes: Bool = false, explanation: [String] = []
        ) -> ImageReport {
            ImageReport(
                path: target.url.path, cpu: slice.cpu.description, state: state, detail: detail, padding: padding,
                changes: changes, explanation: explanation)
        }
        guard let image = slice.image, image.is64Bit, Self.fileTypes.contains(image.fileType) else {
            return (report("skipped", "not a 64-bit executable, library or bundle"), nil)
        }
        guard !image.isEncrypted else {
            guard action == .verify else {
                throw AppToolsError(.refused, "is encrypted by the store")
            }
            return (report("skipped", "encrypted by the store"), nil)
        }
        guard image.firstContent > image.headerSize + image.commandsSize || !image.isBitcodeOnly else {
            guard action == .verify else {
                throw AppToolsError(
                    .refused, "holds bitcode instead of code",
                    hint: "build with ENABLE_BITCODE=NO, or thin the slice away")
            }
            return (report("skipped", "holds bitcode instead of code"), nil)
        }
        let patch = ImagePatch(image: image, names: names)
        let (state, detail) = patch.state
        switch (action, state) {
        case (.install, .unpatched):
            let path = target.sdkPath(image, framework: names.frameworkName)
            let head = try patch.installed(path: path, reusesCommands: reusesCommands)
            let result = try MachOImage(head, size: slice.data.count)
            let explanation = PatchExplanation(before: image, after: result).lines
            return (
                report("patched", "now loads \(path)", result.padding, changes: true, explanation: explanation), head
            )
        case (.install, .damaged), (.install, .foreign), (.remove, .damaged):
            throw AppToolsError(.refused, detail)
        case (.remove, .patched):
            let head = try patch.removed()
            let result = try MachOImage(head, size: slice.data.count)
            let explanation = PatchExplanation(before: image, after: result).lines
            return (
                report("unpatched", "load command removed", result.padding, changes: true, explanation: explanation),
                head
            )
        default: return (report(state.rawValue, detail, image.padding), nil)
        }
    }
}

#if os(macOS) || os(Linux)
    public import Foundation

    /// Signing by the codesign of macOS, whose keys are in the keychain (TL-SG-01).
    public struct AppleCodesign: Sendable {
        private static let program = "/usr/bin/codesign"

        private let identity: String?
        private let identifier: String?
        private let entitlements: String?
        private let defines: [String: String]

        /// Takes the name of a keychain identity, nil signing ad hoc, and what to change of the outermost code.
        ///
        /// - Parameter defines: Build variables of the entitlements. The team of a keychain identity is not known here.
        public init(
            identity: String?, identifier: String? = nil, entitlements: String? = nil, defines: [String: String] = [:]
        ) {
            self.identity = identity
            self.identifier = identifier
            self.entitlements = entitlements
            self.defines = defines
        }

        /// The arguments for one item. Nested code keeps its own entitlements and identifier.
        func arguments(for url: URL, isOutermost: Bool, entitlements: String?) -> [String] {
            var arguments = ["--force", "--sign", identity ?? "-"]
            if isOutermost, let identifier { arguments += ["--identifier", identifier] }
            if isOutermost, let entitlements {
                arguments += ["--entitlements", entitlements]
            } else {
                arguments += ["--preserve-metadata=entitlements,identifier,flags"]
            }
            return arguments + [url.path]
        }

        /// Signs a bundle with all code in it, inside out, or one code file.
        /// - Throws: ``AppToolsError`` `unsupported` where there is no codesign, `refused` with what codesign said.
        public func sign(_ url: URL) throws(AppToolsError) {
            guard FileManager.default.isExecutableFile(atPath: Self.program) else {
                throw AppToolsError(.unsupported, "codesign is part of macOS and not here", hint: "--engine native")
            }
            try checkLinks(in: url)
            let granted = try entitlementsFile(for: url)
            defer { if let granted, granted != entitlements { try? FileManager.default.removeItem(atPath: granted) } }
            for item in try items(url) {
                try run(arguments(for: item, isOutermost: item == url, entitlements: granted), item)
            }
        }

        /// Makes sure that codesign writes nothing outside the bundle.
        /// - Throws: `refused` when a link leads out of it.
        func checkLinks(in url: URL) throws(AppToolsError) {
            guard let boundary = WriteBoundary(of: url) else { return }
            guard InputFile.kind(of: url).isFolder else {
                _ = try boundary.resolved(url)
                return
            }
            for bundle in try AppBundle.insideOut(url) {
                let seal = bundle.url.appendingPathComponent("_CodeSignature/CodeResources")
                for file in bundle.looseCode + [seal] + (bundle.executable.map { [$0] } ?? []) {
                    _ = try boundary.resolved(file)
                }
            }
        }

        /// The given entitlements, or a temporary file of them without build variables.
        /// - Throws: `refused` when a variable has no value.
        func entitlementsFile(for url: URL) throws(AppToolsError) -> String? {
            guard let entitlements else { return nil }
            let data = try InputFile.map(URL(fileURLWithPath: entitlements))
            let bundle = InputFile.kind(of: url).isFolder ? try AppBundle(url) : nil
            let resolved = try SigningEntitlements(bundle: bundle, team: nil, defines: defines).resolved(data)
            guard resolved != data else { return entitlements }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-\(UUID().uuidString)")
            try AtomicWriter.write([FileChange(file, resolved)])
            return file.path
        }

        func items(_ url: URL) throws(AppToolsError) -> [URL] {
            guard InputFile.kind(of: url).isFolder else { return [url] }
            var items: [URL] = []
            for bundle in try AppBundle.insideOut(url) { items += bundle.looseCode + [bundle.url] }
            return items
        }

        private func run(_ arguments: [String], _ item: URL) throws(AppToolsError) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: Self.program)
            process.arguments = arguments
            let output = Pipe()
            process.standardError = output
            guard (try? process.run()) != nil else {
                throw AppToolsError(.unsupported, "codesign does not start", at: item.path)
            }
            let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw AppToolsError(
                    .refused, "codesign: \(said.trimmingCharacters(in: .whitespacesAndNewlines))", at: item.path)
            }
        }
    }
#endif

public import Foundation

/// Signs a bundle with all code in it, inside out, or one code file (TL-SG-07). Nothing is written by planning.
public struct CodeSigner: Sendable {
    /// What to do.
    public struct Options: Sendable {
        /// Who signs; nil signs ad hoc.
        public var identity: (any SigningIdentity)?
        /// Entitlements of the outermost executable; nil keeps the present ones.
        public var entitlements: Data?
        /// Build variables of the entitlements, without `$(` and `)`. The team's prefixes and the bundle identifier
        /// need none where the certificate, the provisioning profile or the Info.plist tells them.
        public var defines: [String: String] = [:]
        /// The identifier of the outermost code; nil keeps the present one or takes the bundle's.
        public var identifier: String?
        /// Allow an ad-hoc signature where a certificate's stands now (TL-SG-10).
        public var allowsDowngrade = false

        /// Signs ad hoc and keeps what can be kept.
        public init() {}
    }

    /// The files to write.
    public struct Plan: Sendable {
        /// The files to write.
        public internal(set) var changes: [FileChange] = []
        /// Each signed item.
        public internal(set) var findings: [Finding] = []
    }

    let options: Options

    /// Makes a signer.
    public init(_ options: Options) {
        self.options = options
    }

    /// Plans the signatures, on top of changes and removals that are planned already and not yet done.
    /// - Throws: ``AppToolsError`` `refused` when something may not or cannot be signed, `malformed` for bad input.
    public func plan(
        _ url: URL, over earlier: [FileChange] = [], removing removed: [URL] = []
    ) throws(AppToolsError) -> Plan {
        guard InputFile.kind(of: url).exists else { throw AppToolsError(.missing, "does not exist", at: url.path) }
        var session = SigningSession(url, options: options, earlier: earlier, removed: removed)
        if InputFile.kind(of: url).isFolder {
            let bundles = try AppBundle.insideOut(url)
            for bundle in bundles {
                for library in bundle.looseCode { try session.sign(library, bundle: nil, isOutermost: false) }
                try session.sign(bundle, isOutermost: bundle.url == url)
            }
        } else {
            try session.sign(url, bundle: nil, isOutermost: true)
        }
        var plan = Plan(changes: session.changes, findings: session.findings)
        plan.findings += try check(plan, of: url, removing: removed)
        return plan
    }

    /// What is wrong with who signs and what a profile allows, and not with the signature.
    private static let matters: Set<String> = ["SG-CMS", "SG-PROFILE"]

    /// - Returns: What a device will refuse although the signature fits: warnings, since another profile or certificate may follow.
    /// - Throws: `refused` when the signature would not fit what it covers.
    private func check(
        _ plan: Plan, of url: URL, removing removed: [URL]
    ) throws(AppToolsError) -> [Finding] {
        let all = try SignatureVerifier().findings(url, over: PlannedFiles(plan.changes, removing: removed))
        let found = all.filter { $0.severity == .error }
        if let problem = found.first(where: { !Self.matters.contains($0.code) }) {
            throw AppToolsError(
                .refused, "cannot be signed so that it verifies: \(problem.message)", at: problem.path)
        }
        return found.map { Finding($0.path, .warning, $0.code, "does not verify: \($0.message)") }
            + all.filter { $0.code == "SG-DATE" }
    }
}

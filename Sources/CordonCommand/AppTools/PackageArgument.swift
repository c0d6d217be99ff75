import ArgumentParser
import CordonAppTools
import Foundation

/// The argument of every tool that works on an app: a bundle, an archive of bundles, or one code file.
struct PackageArgument: ParsableArguments {
    @Argument(
        help: "An .app, .appex, .framework, .xcframework, .xcarchive or .ipa, or one code file.",
        completion: .file(extensions: ["app", "appex", "framework", "xcframework", "xcarchive", "ipa"]))
    var path: String

    var url: URL { URL(fileURLWithPath: path) }

    /// Opens the package for some work and removes what was unpacked afterwards, also where the command is told to stop. Failures
    /// name places as a person knows them.
    func open<Value>(json: Bool, _ work: (AppPackage) throws -> Value) throws -> Value {
        let scratch = try scratch()
        defer { scratch?.remove() }
        let package = try opened(in: scratch, json: json)
        do { return try work(package) } catch let failure as CommandFailure { throw failure.shown(in: package) }
    }

    /// The same for work that waits.
    func open<Value>(json: Bool, _ work: (AppPackage) async throws -> Value) async throws -> Value {
        let scratch = try scratch()
        defer { scratch?.remove() }
        let package = try opened(in: scratch, json: json)
        do { return try await work(package) } catch let failure as CommandFailure { throw failure.shown(in: package) }
    }

    /// Where the package is unpacked; nil for one that is not packed.
    private func scratch() throws(CommandFailure) -> ScratchFolder? {
        try AppPackage.isArchive(url) ? ScratchFolder() : nil
    }

    private func opened(in scratch: ScratchFolder?, json: Bool) throws -> AppPackage {
        let place = scratch?.url ?? FileManager.default.temporaryDirectory
        var progress = Progress("unpacking", isShown: !json)
        let package = try reporting { () throws(AppToolsError) in
            try AppPackage(opening: url, in: place) { progress.show(Int64($0), of: Int64($1)) }
        }
        progress.end()
        return package
    }
}

extension CommandFailure {
    fileprivate func shown(in package: AppPackage) -> CommandFailure {
        CommandFailure(status, package.shown(message), hint: hint.map(package.shown))
    }
}

/// What a tool wants to do with one bundle.
struct BundleWork {
    var changes: [FileChange] = []
    var removals: [URL] = []
    var findings: [Finding] = []
}

extension PackageArgument {
    /// Plans every bundle, then writes all of it, or with `isCheck` only lists it and says that the wanted state is not
    /// reached. An archive is rewritten.
    func apply(isCheck: Bool, json: Bool, _ plan: (URL) throws -> BundleWork) throws {
        try open(json: json) { package in
            let work = try package.bundles.map(plan)
            var report = ToolReport(findings: work.flatMap(\.findings))
            try CordonCommand.apply(
                work.flatMap(\.changes), removing: work.flatMap(\.removals), in: package, to: &report,
                isCheck: isCheck, json: json)
        }
    }
}

import CordonAppTools
import Foundation

/// Feeds foreign bytes to every parser of the app tools: property lists, seals with their rules, Mach-O and fat files, code
/// signatures, archives, signed messages and activation rules. `Tests/Vectors/app-tools` has a seed of each.
///
/// A parser must not crash, hang or use memory without bound; what it accepts must survive the round trips below.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAppTools(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = start.map { Data(bytes: $0, count: count) } ?? Data()
    propertyList(bytes)
    seal(bytes)
    rule(String(decoding: bytes, as: UTF8.self))
    code(bytes)
    archive(bytes)
    message(bytes)
    return 0
}

private func propertyList(_ bytes: Data) {
    guard let list = try? PropertyList(reading: bytes), var editor = try? PropertyListEditor(reading: bytes) else {
        return
    }
    precondition(editor.data == bytes, "an unchanged list changed its bytes")
    guard case .dictionary = list.value, (try? editor.set(.string("fuzz"), at: ["fuzz-key"])) != nil else { return }
    let again = try? PropertyList(reading: editor.data)
    precondition(again?.value == editor.value, "text and value went apart")
    _ = try? Configurator(ConfiguratorOptions(names: .intuneCompatible)).configure(info: (bytes, "Info.plist"))
    _ = ProfileLint.findings(list.value, path: "profile")
}

/// An app with some files, without any of its seal.
private let app: URL? = {
    let app = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-fuzz-\(getpid()).app")
    let folder = app.appendingPathComponent("_CodeSignature")
    let info = "<plist><dict><key>CFBundleExecutable</key><string>A</string></dict></plist>"
    // A header without load commands.
    let code = Data([0xCF, 0xFA, 0xED, 0xFE, 12, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0] + [UInt8](repeating: 0, count: 16))
    do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(info.utf8).write(to: app.appendingPathComponent("Info.plist"))
        try code.write(to: app.appendingPathComponent("A"))
        try Data("x".utf8).write(to: app.appendingPathComponent("a"))
    } catch { return nil }
    return app
}()

private func seal(_ bytes: Data) {
    guard bytes.firstRange(of: Data("rules".utf8)) != nil, let app, (try? PropertyList(reading: bytes)) != nil,
        (try? bytes.write(to: app.appendingPathComponent("_CodeSignature/CodeResources"))) != nil
    else { return }
    _ = try? SignatureVerifier().findings(app)
}

private func rule(_ text: String) {
    guard let rule = try? ActivationRule(text) else { return }
    // A rule at the limit of nesting may be too deep once types are paired.
    guard let managed = try? rule.addingManagedTypes(.intuneCompatible), let canonical = try? managed.canonical() else {
        return
    }
    precondition((try? managed.addingManagedTypes(.intuneCompatible)) == managed, "rewriting twice is not once")
    precondition((try? canonical.canonical()) == canonical, "the canonical layout is not stable")
    _ = try? rule.accepts([SharedItem(attachments: [["public.jpeg"]])])
}

/// What is unpacked lies in its folder and is gone afterwards, whatever the archive says.
private func archive(_ bytes: Data) {
    guard bytes.starts(with: [0x50, 0x4B]) else { return }
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-fuzz-archive-\(getpid())")
    let file = place.appendingPathExtension("ipa")
    try? FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    guard (try? bytes.write(to: file)) != nil else { return }
    if let package = try? AppPackage(opening: file, in: place) {
        try? package.save()
        package.close()
    }
    let left = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
    precondition(left.isEmpty, "what was unpacked stays")
}

private func message(_ bytes: Data) {
    _ = try? ProvisioningProfile(bytes)
    guard let content = try? CMSEnvelope.content(of: bytes) else { return }
    precondition(content.count <= bytes.count, "a message holds more than it is")
}

private func code(_ bytes: Data) {
    guard MachOFile.mayBeMachO(bytes), (try? MachOFile(bytes)) != nil else { return }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-fuzz-code-\(getpid())")
    guard (try? bytes.write(to: file)) != nil else { return }
    _ = try? SignatureVerifier().findings(file)
    _ = try? Thinner.plan(file, ThinRequest(side: .device))
    let patcher = FrameworkPatcher(names: .intuneCompatible)
    guard let install = try? patcher.plan(.install, file), !install.changes.isEmpty else { return }
    guard (try? AtomicWriter.write(install.changes)) != nil, let remove = try? patcher.plan(.remove, file),
        (try? AtomicWriter.write(remove.changes)) != nil
    else { preconditionFailure("what was installed could not be removed") }
    precondition((try? Data(contentsOf: file)) == bytes, "removal did not give the first bytes back")
}

import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

/// The seeds that fuzzing starts from are what their names say, so that it gets past the first check of every parser.
struct SeedTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Vectors/app-tools")

    private func seed(_ name: String) throws -> Data {
        try Data(contentsOf: Self.folder.appendingPathComponent(name))
    }

    @Test func `every seed is read by its parser`() throws {
        let scratch = try Scratch()
        for (name, slices) in [("image", 1), ("image-unsigned", 1), ("fat", 2), ("fat64", 2), ("archive", 1)] {
            #expect(try MachOFile(seed(name)).slices.count == slices, "\(name)")
        }
        let image = try scratch.file("image", seed("image"))
        #expect(try SignatureVerifier().findings(image).filter { $0.severity == .error } == [])
        #expect(try MachOFile(seed("fat64")).slices.map(\.cpu.description) == ["arm64", "arm64e"])
        #expect(try PropertyList(reading: seed("info.xml")).value == PropertyList(reading: seed("info.binary")).value)
        #expect(try SealRules(PropertyList(reading: seed("seal.xml")).value)?.omits("Info.plist") == true)
        let rule = try ActivationRule(String(decoding: seed("rule"), as: UTF8.self))
        #expect(try rule.addingManagedTypes(.intuneCompatible) != rule)
        for name in ["zip", "zip-streamed", "zip-stored", "zip64"] {
            #expect(try ZipArchive(seed(name)).entries.map(\.kind).contains(.link), "\(name)")
        }
        for name in ["profile.der", "profile.ber"] {
            #expect(try ProvisioningProfile(seed(name)).teams == ["ABCDE12345"], "\(name)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.count == 15)
    }
}

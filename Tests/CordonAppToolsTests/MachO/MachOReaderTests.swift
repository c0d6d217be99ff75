import CordonTestSupport
import Foundation
import Testing

@testable import CordonAppTools

@Suite(.enabled(if: MachOLab.isAvailable, MachOLab.needs))
struct MachOReaderTests {
    /// Every byte in the deep run, every seventh in the plain one.
    private static let step = ProcessInfo.processInfo.environment["CORDON_DEEP"] == nil ? 7 : 1

    @Test func `platform and processor are told apart`() throws {
        let lab = try MachOLab.get()
        func slice(_ url: URL) throws -> MachOSlice { try #require(try MachOFile(lab.data(url)).slices.first) }
        #expect(try slice(lab.library).platform == .iOS)
        #expect(try slice(lab.armSimulatorLibrary).platform == .iOSSimulator)
        #expect(try slice(lab.armSimulatorLibrary).cpu.description == "arm64")
        #expect(try slice(lab.simulatorLibrary).cpu.description == "x86_64")
    }

    @Test func `the libraries are those llvm-otool lists`() throws {
        let lab = try MachOLab.get()
        for url in [lab.library, lab.executable, lab.tightExecutable] {
            let image = try #require(try MachOFile(lab.data(url)).slices.first?.image)
            let lines = try Program.succeed(MachOLab.otool ?? "", ["-L", url.path]).text.split(separator: "\n")
                .dropFirst()
            let listed = lines.compactMap { $0.split(separator: "(").first?.trimmingCharacters(in: .whitespaces) }
            #expect((image.identifier.map { [$0] } ?? []) + image.libraries.map(\.path) == listed)
        }
    }

    @Test func `fat and fat64 hold the same slices`() throws {
        let lab = try MachOLab.get()
        for (url, container) in [(lab.fat, MachOFile.Container.fat), (lab.fat64, .fat64)] {
            let file = try MachOFile(lab.data(url))
            #expect(file.container == container)
            #expect(file.slices.map(\.cpu.description) == ["x86_64", "arm64"])
            #expect(try file.slices.first { $0.platform == .iOS }?.data == lab.data(lab.library))
        }
    }

    @Test func `a damaged header or load command never traps`() throws {
        let lab = try MachOLab.get()
        for url in [lab.library, lab.fat, lab.fat64] {
            let good = try lab.data(url)
            let spans = [0..<min(2200, good.count), 16384..<min(16384 + 1200, good.count)]
            for position in spans.joined() where position % Self.step == 0 {
                for value in [UInt8(0), 0x80, 0xFF] where good[position] != value {
                    var bad = good
                    bad[position] = value
                    _ = try? MachOFile(bad)
                }
            }
            for length in stride(from: 0, to: 3000, by: 7) { _ = try? MachOFile(good.prefix(length)) }
        }
    }

    static let lyingEntries: [(Int, UInt32)] = [
        (4, 65), (4, 0), (16, 1), (16, 0xFFFF_FFFF), (20, 0xFFFF_FFFF), (24, 40), (36, 4096),
    ]

    @Test(arguments: lyingEntries)
    func `a fat entry that lies is refused`(offset: Int, number: UInt32) throws {
        let lab = try MachOLab.get()
        var bad = try lab.data(lab.fat)
        bad.replaceSubrange(offset..<offset + 4, with: number.bigBytes)
        #expect(throws: AppToolsError(.malformed, "")) { try MachOFile(bad) }
    }

    @Test(arguments: [(4096, true), (4097, false)])
    func `more load commands than any app has are refused`(count: Int, isRead: Bool) throws {
        let head: [UInt32] = [0xFEED_FACF, 0x0100_000C, 0, 2, UInt32(count), UInt32(count) * 8, 0, 0]
        let commands = Array(repeating: [UInt32(0x7777), 8], count: count).joined()
        let data = (head + commands).reduce(into: Data()) { $0 += $1.littleBytes }
        guard !isRead else {
            #expect(try MachOImage(data).commands.count == count)
            return
        }
        let error = #expect(throws: AppToolsError.self) { try MachOImage(data) }
        #expect(error?.reason.contains("more than 4096") == true)
    }

    static let lyingHeaders: [(Int, UInt32)] = [
        (16, 9999), (20, 8), (20, 0x20_0000), (36, 7), (36, 0x1000_0000), (36, 0),
    ]

    @Test(arguments: lyingHeaders)
    func `a header or command length that lies is refused`(offset: Int, number: UInt32) throws {
        let lab = try MachOLab.get()
        var bad = try lab.data(lab.library)
        bad.replaceSubrange(offset..<offset + 4, with: number.littleBytes)
        #expect(throws: AppToolsError(.malformed, "")) { try MachOFile(bad) }
    }
}

import CordonDemo
import CordonTestSupport
import Foundation
import Testing

@Suite struct MarkerScanTests {
    private func inFolder(_ work: (URL) throws -> Void) throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        try work(folder)
    }

    @Test func `every marker is found wherever it stands, in binary files too, and counted once`() throws {
        try inFolder { folder in
            let scan = MarkerScan(count: 50, seed: 1)
            var bytes = Data([0xFF, 0x00])
            for marker in scan.markers { bytes += Data(marker.utf8) + Data([0x00, 0x41]) }
            try bytes.write(to: folder.appending(path: "a"))
            try FileManager.default.createDirectory(
                at: folder.appending(path: "deep"), withIntermediateDirectories: true)
            try Data(("f" + scan.markers[0] + "0").utf8).write(to: folder.appending(path: "deep/b"))
            let finding = try scan.scan(folder.path)
            #expect(finding.markers == 50)
            #expect(finding.files == 2)
        }
    }

    @Test func `a marker with one character changed is not found`() throws {
        try inFolder { folder in
            let scan = MarkerScan(count: 1, seed: 1)
            let marker = scan.markers[0]
            let changed = marker.dropLast() + (marker.last == "0" ? "1" : "0")
            try Data(changed.utf8).write(to: folder.appending(path: "a"))
            #expect(try scan.scan(folder.path).markers == 0)
        }
    }

    @Test func `a seed makes the same markers, another seed others, and none twice`() {
        #expect(MarkerScan(count: 1_000, seed: 5).markers == MarkerScan(count: 1_000, seed: 5).markers)
        #expect(Set(MarkerScan(count: 1_000, seed: 5).markers).count == 1_000)
        #expect(Set(MarkerScan(count: 9, seed: 5).markers).isDisjoint(with: MarkerScan(count: 9, seed: 6).markers))
    }
}

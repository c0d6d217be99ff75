import CordonScan
import Foundation

/// Feeds foreign bytes to `cordon scan` as a source in Swift or Objective-C, a property list or entitlements; the first byte says which.
///
/// A scan must not crash, hang or use memory without bound; it says the same twice, every place that it names is in the file, and a line more
/// behind the end takes no finding away.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzScan(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let start, count > 1 else { return 0 }
    let names = ["File.swift", "File.m", "File.h", "Info.plist", "App.entitlements"]
    let bytes = Data(bytes: start + 1, count: count - 1)
    guard let folder else { return 0 }
    let file = folder.appendingPathComponent(names[Int(start[0]) % names.count])
    for other in (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? [] {
        try? FileManager.default.removeItem(at: other)
    }
    guard (try? bytes.write(to: file)) != nil else { return 0 }
    let scan = SourceScan(folder.path, options: SourceScan.Options(today: "2026-01-01"))
    let first = scan.run()
    let again = scan.run()
    precondition(places(first) == places(again), "the same file was read in two ways")
    let lines = 1 + bytes.count { $0 == 0x0A || $0 == 0x0D }
    precondition(first.findings.allSatisfy { (1...max(1, lines + 1)).contains($0.line) }, "a place outside the file")
    return 0
}

private let folder: URL? = {
    let memory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    let folder = URL(fileURLWithPath: memory).appendingPathComponent("cordon-fuzz-scan-\(getpid())")
    return (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)).map { folder }
}()

private func places(_ report: ScanReport) -> [String] { report.findings.map { "\($0.path):\($0.line): \($0.way)" } }

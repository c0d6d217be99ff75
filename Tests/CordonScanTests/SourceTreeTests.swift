import CordonScan
import Foundation
import Testing

/// Folders and files as they come: links, foreign texts, what cannot be read.
struct SourceTreeTests {
    private let leak = "UIPasteboard.general.string = text\n"

    @Test func `links in a circle are followed once, and a file behind two names is read once`() throws {
        let folder = try ScannedFolder(["a/File.swift": leak])
        defer { folder.remove() }
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.path + "/a/again", withDestinationPath: folder.url.path)
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.path + "/a/Other.swift", withDestinationPath: folder.url.path + "/a/File.swift")
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.path + "/a/Nowhere.swift", withDestinationPath: "/nowhere/at/all")
        let report = folder.scan()
        #expect(report.findings.count == 1)
        #expect(report.files == 1)
        #expect(report.skipped.contains { $0.path == "a/again" })
        #expect(report.unread.map(\.path) == ["a/Nowhere.swift"])
    }

    @Test func `UTF-16 and broken UTF-8 are read, and a folder with a source's name is one`() throws {
        let folder = try ScannedFolder(["Folder.swift/Inner.swift": leak])
        defer { folder.remove() }
        try folder.write(
            Data([0xFF, 0xFE]) + leak.utf16.reduce(into: Data()) { $0 += [UInt8($1 & 0xFF), UInt8($1 >> 8)] },
            "Wide.swift")
        try folder.write(Data([0x2F, 0x2F, 0xFF, 0xC0, 0x0A]) + Data(leak.utf8), "Broken.swift")
        try folder.write(Data([0xEF, 0xBB, 0xBF]) + Data(leak.utf8), "Marked.swift")
        let report = folder.scan()
        #expect(
            report.findings.map { "\($0.path):\($0.line):\($0.column)" }
                == ["Broken.swift:2:22", "Folder.swift/Inner.swift:1:22", "Marked.swift:1:22", "Wide.swift:1:22"])
        #expect(report.skipped.map(\.path) == ["Broken.swift"])
    }

    @Test func `C and C++ are read as Objective-C is`() throws {
        let keep = "void keep(CFDictionaryRef item) { SecItemAdd(item, NULL); }\n"
        let folder = try ScannedFolder(["a.c": keep, "b.cpp": keep, "c.hpp": keep, "d.CC": keep])
        defer { folder.remove() }
        let report = folder.scan()
        #expect(
            report.findings.map { "\($0.path): \($0.way)" }
                == ["a.c", "b.cpp", "c.hpp", "d.CC"].map { $0 + ": keychain" })
        for framework in ["gtest/gtest.h", "catch2/catch_test_macros.hpp"] {
            let tests = try ScannedFolder(["test.cpp": "#include <\(framework)>\n" + keep])
            defer { tests.remove() }
            #expect(tests.scan().findings.isEmpty, "\(framework)")
        }
    }

    @Test func `keys that a build puts into the property list are read from its settings`() throws {
        let folder = try ScannedFolder([
            "App.xcodeproj/project.pbxproj": """
            // !$*UTF8*$!
            INFOPLIST_KEY_UIFileSharingEnabled = YES;
            "INFOPLIST_KEY_UISupportsDocumentBrowser[sdk=iphoneos*]" = YES;
            INFOPLIST_KEY_LSSupportsOpeningDocumentsInPlace = NO;
            """,
            "App.xcconfig": "INFOPLIST_KEY_UIFileSharingEnabled = YES // cordon:allow container — public files alone\n",
            "Empty.xcodeproj/other": "", "Debug.XCCONFIG": "INFOPLIST_KEY_UIFileSharingEnabled = NO\n",
        ])
        defer { folder.remove() }
        let report = folder.scan()
        #expect(
            report.findings.map { "\($0.line):\($0.column) \($0.symbol)" }
                == ["2:1 UIFileSharingEnabled", "3:2 UISupportsDocumentBrowser"])
        #expect(report.waived.map(\.path) == ["App.xcconfig"] && report.unread.isEmpty && report.skipped.isEmpty)
        #expect(report.files == 0, "settings alone are no app")
    }

    @Test func `one file is read if it is a source, and told as not read if it is not`() throws {
        let folder = try ScannedFolder(["Leak.swift": leak, "key.pem": leak])
        defer { folder.remove() }
        func scan(_ path: String) -> ScanReport {
            SourceScan(path, options: SourceScan.Options(today: "2026-11-23")).run()
        }
        let source = scan(folder.url.appending(path: "Leak.swift").path)
        #expect(source.files == 1 && source.findings.count == 1 && source.unread.isEmpty)
        let other = scan(folder.url.appending(path: "key.pem").path)
        #expect(other.files == 0 && other.unread.map(\.path) == ["key.pem"])
        #expect(scan("/dev/zero").unread.map(\.path) == ["zero"])
    }

    @Test func `what is too large or binary is told as not read`() throws {
        let folder = try ScannedFolder(["File.swift": leak])
        defer { folder.remove() }
        let large = folder.url.appending(path: "Large.swift")
        #expect(FileManager.default.createFile(atPath: large.path, contents: nil))
        let handle = try FileHandle(forWritingTo: large)
        try handle.truncate(atOffset: 40 << 20)
        try handle.close()
        try folder.write(Data("bplist00".utf8), "Info.plist")
        try folder.write(Data("{ UIFileSharingEnabled = YES; }".utf8), "Old-Info.plist")
        let report = folder.scan()
        #expect(report.unread.map(\.path).sorted() == ["Info.plist", "Large.swift", "Old-Info.plist"])
        #expect(report.findings.count == 1)
    }

    @Test func `a file that is no property list whatever its name is left out, told, and ends no scan`() throws {
        let sharing = "<plist><dict><key>UIFileSharingEnabled</key><true/></dict></plist>"
        let folder = try ScannedFolder([
            "CardInfo.plist": "name,count", "Info_Empty.plist": "", "Base-Info.plist": "#include \"a.h\"\n" + sharing,
            "Old-Info.plist": "// old\n{ UIFileSharingEnabled = YES; }", "Main.xib": "bplist00",
        ])
        defer { folder.remove() }
        try folder.write(Data("bplist00".utf8), "Information.plist")
        try folder.write(Data("bplist00".utf8), "InfoCards.plist")
        let report = folder.scan()
        #expect(report.skipped.map(\.path) == ["CardInfo.plist", "Info_Empty.plist"])
        #expect(report.unread.map(\.path) == ["Main.xib", "Old-Info.plist"])
        #expect(report.unread.first?.reason == "an interface file that is not XML")
        #expect(report.findings.map(\.path) == ["Base-Info.plist"])
    }

    @Test(arguments: [
        "// !$*UTF8*$!\n{ UIFileSharingEnabled = YES; Icon = <0fbd>; }", "/* old */ ( <0fbd> )", "\0GITCRYPT\0<",
        "<\0p\0l\0i\0s\0t\0>\0",
    ])
    func `an old-style or binary property list is told as not read, whatever it holds`(_ text: String) throws {
        let folder = try ScannedFolder(["Info.plist": text])
        defer { folder.remove() }
        #expect(folder.scan().unread.map(\.path) == ["Info.plist"])
    }

    @Test func `dependencies and tests are left out, told, and read when asked`() throws {
        let folder = try ScannedFolder([
            "Pods/Pod.swift": leak, "AppTests/Test.swift": "import XCTest\n" + leak, "File.swift": leak,
        ])
        defer { folder.remove() }
        let report = folder.scan()
        #expect(report.findings.map(\.path) == ["File.swift"])
        #expect(report.skipped.count == 2)
        let all = folder.scan { ($0.readsDependencies, $0.readsTests) = (true, true) }
        #expect(all.findings.count == 3)
        // What helps tests in debug builds ships in the others.
        try folder.write(Data("#if DEBUG\nimport XCTest\n#endif\n\(leak)".utf8), "Helper.swift")
        #expect(folder.scan().findings.map(\.path) == ["File.swift", "Helper.swift"])
    }

    @Test func `one file can be scanned, and a place that is not there is not read`() throws {
        let folder = try ScannedFolder(["a/File.swift": leak])
        defer { folder.remove() }
        let options = SourceScan.Options(today: "2026-11-23")
        #expect(
            SourceScan(folder.url.path + "/a/File.swift", options: options).run().findings.map(\.path) == ["File.swift"]
        )
        #expect(SourceScan(folder.url.path + "/b", options: options).run().unread.count == 1)
    }

    @Test func `a file that is gone before it is read again is told as not read`() throws {
        let folder = try ScannedFolder(["A.swift": leak, "B.swift": leak])
        defer { folder.remove() }
        var readings = 0
        var rest: Int64 = -1
        let report = SourceScan(folder.url.path, options: .init(today: "2026-11-23")).run {
            readings += 1
            rest = $1 - $0
            if readings == 2 { try? FileManager.default.removeItem(atPath: folder.url.path + "/B.swift") }
        }
        #expect(report.findings.map(\.path) == ["A.swift"])
        #expect(report.unread.map(\.path) == ["B.swift"])
        #expect(rest == 0)
    }

    @Test func `progress rises to its end`() throws {
        let folder = try ScannedFolder(["A.swift": leak, "B.swift": leak])
        defer { folder.remove() }
        var seen: [Int64] = []
        var totals: Set<Int64> = []
        _ = SourceScan(folder.url.path, options: .init(today: "2026-11-23")).run {
            seen.append($0)
            totals.insert($1)
        }
        #expect(seen == seen.sorted())
        #expect(totals == [seen.last ?? 0])
    }
}

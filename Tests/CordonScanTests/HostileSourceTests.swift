import CordonScan
import Foundation
import Testing

/// Sources that no developer would write: the scan ends, says what it found, and does not trap.
struct HostileSourceTests {
    private func findings(_ text: String, _ name: String) throws -> Int {
        let folder = try ScannedFolder([name: text])
        defer { folder.remove() }
        return folder.scan().findings.count
    }

    private static let whole = """
        import Cordon
        /* a /* b */ c */ let r = #/x/#; let s = #"a\\#(b("c"))"#; let t = \"\"\"
            \\(d { $0 })
            \"\"\"
        #if DEBUG && !X
        func f<T>(_ a: [T]) throws -> Bool { guard try? protection.permit(for: Question(.copy)) != nil else { return false } }
        #elseif os(iOS)
        @AppStorage("x") var y: String = ""; UIPasteboard.general.items[0]["a"] = b ? c : d
        #else
        switch protection.decision(for: q).verdict { case .allow: ShareLink(item: x); default: break }
        #endif
        """

    @Test(arguments: ["swift", "m", "plist", "entitlements"])
    func `every beginning of a file is read, and every file with a byte changed`(_ kind: String) throws {
        let name = kind == "plist" ? "Info.plist" : "File.\(kind)"
        let folder = try ScannedFolder()
        defer { folder.remove() }
        let bytes = Array(((["plist", "entitlements"].contains(kind) ? "<" : "") + Self.whole).utf8)
        let marks = Array("{}()[]\"'`#/\\*<>!?:;.,@$\n\0".utf8)
        for cut in stride(from: 0, through: bytes.count, by: 41) {
            var changed = Array(bytes[..<cut])
            try folder.write(Data(changed), name)
            _ = folder.scan()
            guard cut > 0 else { continue }
            changed = bytes
            changed[cut - 1] = marks[cut % marks.count]
            try folder.write(Data(changed), name)
            #expect(folder.scan().files == 1)
        }
    }

    @Test(arguments: [
        "(", "{", "[", "\"\\(", "/*", "#if X\n", "a.", "!", "<", "@A ", "`", "#\"", "if a {", "try? ", "f(x: ",
    ])
    func `endless repetition ends`(_ piece: String) throws {
        let text = String(repeating: piece, count: 3_000) + "\nUIPasteboard.general.string = x\n"
        _ = try findings(text, "File.swift")
        _ = try findings(text, "File.m")
    }

    @Test(arguments: [
        "[[UIDocumentPickerViewController alloc", "[[UIDocumentPickerViewController alloc] initFor",
        "[[OutputStream alloc",
        "UIDocumentPickerViewController(", "try FileHandle(", "try rules.whenAllowed(", "rules.only(x, for: .copy",
        "func contents(forType: String", "- (void)dropInteraction:(id)a performDrop:(id)b {",
    ])
    func `a source that breaks off in a call is read to its end`(_ text: String) throws {
        for name in ["File.m", "File.swift", "File.h"] {
            let folder = try ScannedFolder([name: text])
            defer { folder.remove() }
            #expect(folder.scan().files == 1)
        }
    }

    @Test func `a file nested too deeply to see guards in tells every way out`() throws {
        let text =
            "import Cordon\nfunc f() throws {\n_ = try protection.permit(for: Question(.copy))\n"
            + String(repeating: "{", count: 2_000)
            + "UIPasteboard.general.string = x" + String(repeating: "}", count: 2_000) + "}"
        #expect(try findings(text, "File.swift") == 1)
    }

    @Test func `many guards and many ways out in one block are read in time that grows with them alone`() throws {
        let pair =
            "if protection.decision(for: Question(.print, owner: o)).verdict.permits { a() }\nUIPasteboard.general.string = x\n"
        let text = "import Cordon\nfunc f() {\n" + String(repeating: pair, count: 400) + "}\n"
        #expect(try findings(text, "File.swift") == 400)
    }

    @Test func `many functions with answers of one name are read in time that grows with them alone`() throws {
        let answer = "gate.decision(for: Question(.copy, owner: o)).verdict.permits"
        let member = "func a() { self.may = \(answer) }\n"
        let own = "func b() { var may = \(answer)\nguard may else { return }\nUIPasteboard.general.string = x }\n"
        let other = "func c() { let may = isOn\nguard may else { return }\nUIPasteboard.general.string = x }\n"
        let text = [member, own, other].map { String(repeating: $0, count: 500) }.joined()
        #expect(try findings("import Cordon\nclass C {\n\(text)}\n", "File.swift") == 500)
    }
}

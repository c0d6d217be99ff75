import CordonScan
import Testing

/// Sources that are easily misread: conditions, texts, expressions, names for names, property lists.
struct ReadingTests {
    @Test(arguments: [
        ("DEBUG", "note error"), ("!(DEBUG || BETA)", "error error"),
        ("!(DEBUG || targetEnvironment(simulator))", "error note"), ("!(false || BETA)", "error error"),
        ("!(true && BETA)", "error error"), ("DEBUG && (BETA || true)", "note error"), ("(DEBUG) > 1", "error error"),
        ("((DEBUG))", "note error"), ("!(", "error error"),
    ])
    func `a condition says of both of its branches which builds have them`(_ condition: String, _ branches: String)
        throws
    {
        let leak = "UIPasteboard.general.string = text"
        let folder = try ScannedFolder(["File.swift": "#if \(condition)\n\(leak)\n#else\n\(leak)\n#endif\n"])
        defer { folder.remove() }
        #expect(folder.scan().findings.map(\.severity.rawValue).joined(separator: " ") == branches)
    }

    @Test func `the branches of C's newer conditions are branches`() throws {
        let source = "#if 0\n#elifdef X\n[UIPasteboard generalPasteboard].string = x;\n#endif\n"
        #expect(try ScannedFolder.found(source, as: "File.m") == ["3: pasteboard"])
    }

    @Test func `a text with sharps that ends on its line leaves the lines below to be read`() throws {
        let leak = "UIPasteboard.general.string = x"
        #expect(try ScannedFolder.found("let mark = #\"\"\"#\n\(leak)") == ["2: pasteboard"])
        #expect(try ScannedFolder.found("let mark = #\"\"\" a \"#\n\(leak)") == ["2: pasteboard"])
        #expect(try ScannedFolder.found("let text = #\"\"\"\n\(leak)\n\"\"\"#\n\(leak)") == ["4: pasteboard"])
    }

    @Test func `a slash that the compiler takes for an operator begins no regular expression`() throws {
        let leak = "UIPasteboard.general.string = x"
        #expect(try ScannedFolder.found("a(1, /); \(leak); a(1, /)") == ["1: pasteboard"])
        #expect(try ScannedFolder.found("a(/, { \(leak) }, /)") == ["1: pasteboard"])
        #expect(try ScannedFolder.found("a(/(x|y)[)] \\) UIPasteboard.general.string/)") == [])
    }

    @Test func `a subclass of a subclass and a name for a name are followed, whichever file comes first`() throws {
        let sheet = "final class Sheet: BaseSheet {}\nlet sheet = Sheet(activityItems: [x], applicationActivities: nil)"
        let base = ["Base.swift": "class BaseSheet: UIActivityViewController {}"]
        #expect(try ScannedFolder.found(sheet, as: "A.swift", beside: base) == ["2: share"])
        #expect(try ScannedFolder.found(sheet, as: "Z.swift", beside: base) == ["2: share"])
        let board = "typealias Inner = Outer\nInner.general.string = text"
        let outer = ["B.swift": "typealias Outer = Board", "C.swift": "typealias Board = UIPasteboard"]
        #expect(try ScannedFolder.found(board, as: "A.swift", beside: outer) == ["2: pasteboard"])
        #expect(try ScannedFolder.found("typealias A = B\ntypealias B = A\nlet a = A()") == [])
    }

    @Test(arguments: [
        ("A.swift", "responder?.perform(#selector(openURL(_:)), with: address)", true),
        ("A.swift", "app.perform(#selector(Opener.openURL(_:)), with: address)", true),
        ("A.swift", "self?.perform(#selector(openURL(_:)), with: address)", false),
        ("A.swift", "button.addTarget(self, action: #selector(openURL(_:)), for: .touchUpInside)", false),
        ("A.m", "void f(void) { [responder performSelector:@selector(openURL:) withObject:address]; }", true),
        ("A.m", "void f(void) { [self performSelector:@selector(openURL:) withObject:address]; }", false),
    ])
    func `a selector that another object performs is a way out by name`(
        _ file: String, _ source: String, _ isWay: Bool
    ) throws {
        #expect(try ScannedFolder.found(source, as: file) == (isWay ? ["1: indirect"] : []))
    }

    @Test(arguments: [
        ("A.swift", "NSPrintOperation(view: view).run()", "print"), ("A.swift", "let panel = NSSavePanel()", "export"),
        ("A.swift", "NSOpenPanel().begin { _ in }", "open"),
        ("A.swift", "NSSharingService(named: .sendViaAirDrop)?.perform(withItems: [x])", "share"),
        ("A.m", "void f(void) { NSSavePanel *panel = [NSSavePanel savePanel]; }", "export"),
        ("A.m", "void f(void) { [[NSPrintOperation printOperationWithView:view] runOperation]; }", "print"),
    ])
    func `a Mac's panels and printers are ways out`(_ file: String, _ source: String, _ way: String) throws {
        #expect(try ScannedFolder.found(source, as: file) == ["1: \(way)"])
    }

    @Test func `an escaped blank may end a regular expression`() throws {
        let source = "let pattern = /\"\"\"\\ /\nUIPasteboard.general.string = text\nlet other = \"b\""
        #expect(try ScannedFolder.found(source) == ["2: pasteboard"])
    }

    @Test func `an app's own method by the name of a Mac's panel is no way out`() throws {
        let source = "void f(void) { [self savePanel]; [self.sidebar openPanel]; }"
        #expect(try ScannedFolder.found(source, as: "A.m") == [])
    }

    @Test(arguments: [
        ("<true/>", true), ("<integer>1</integer>", true), ("<string>Yes</string>", true),
        ("<string>${SHARES}</string>", true), ("<string>$(SHARES)</string>", true), ("<integer>0</integer>", false),
        ("<string>NO</string>", false), ("<false/>", false),
    ])
    func `a yes of a property list is one however it is written`(_ value: String, _ isYes: Bool) throws {
        let list = "<plist><dict><key>UIFileSharingEnabled</key>\(value)</dict></plist>"
        let names = [
            "Info.plist", "App-Info.plist", "Info-Dev.plist", "Info.Dev.plist", "Info Dev.plist", "Info2.plist",
        ]
        for name in names {
            #expect(try ScannedFolder.found(list, as: name) == (isYes ? ["1: container"] : []), "\(name)")
        }
    }
}

import Cordon
import CordonScreens
import CordonTestSupport
import Foundation
import Testing

/// What lies on pasteboards, in notifications, behind links and in folders for other programs.
@Suite struct CarriedValuesTests {
    @Test func `what is on a pasteboard comes back as it was`() {
        for item in [
            ClipboardItem(owner: nil, text: "plain", sealed: nil),
            ClipboardItem(owner: "oid-a", text: nil, sealed: Data([1, 2])),
            ClipboardItem(owner: "oid-a", text: "both", sealed: Data([3])),
        ] {
            #expect(PasteboardCodec.item(from: PasteboardCodec.representations(of: item)) == item)
        }
    }

    @Test func `sealed text is not among what every app reads, and stays on this device`() {
        let item = ClipboardItem(owner: "oid-a", text: nil, sealed: Data([1]))
        #expect(PasteboardCodec.representations(of: item)[PasteboardCodec.textType] == nil)
        #expect(PasteboardCodec.isLocalOnly(item))
        #expect(!PasteboardCodec.isLocalOnly(ClipboardItem(owner: nil, text: "x", sealed: nil)))
    }

    @Test func `a pasteboard without text, with bytes that are none, or with too many is empty`() {
        #expect(PasteboardCodec.item(from: [:]) == nil)
        #expect(PasteboardCodec.item(from: ["public.png": Data([1])]) == nil)
        #expect(PasteboardCodec.item(from: [PasteboardCodec.textType: Data([0xff, 0xfe])]) == nil)
        #expect(PasteboardCodec.item(from: [PasteboardCodec.ownerType: Data("oid-a".utf8)]) == nil)
        #expect(PasteboardCodec.item(from: [PasteboardCodec.textType: Data(count: (32 << 20) + 1)]) == nil)
    }

    @Test func `a thing on its way comes out as it went in, and anything else is no thing`() throws {
        let item = SharedItem(
            owner: "oid-a", senderBundleID: "org.example.notes", name: "plan.txt", contents: Data([0, 255]))
        let data = try HandOverCodec.data(of: item)
        #expect(HandOverCodec.item(from: data) == item)
        for other in [
            Data(), Data("[]".utf8), data.dropLast(), Data("{\"owner\":\"oid-a\"}".utf8), Data([0xff, 0xd8]),
        ] {
            #expect(HandOverCodec.item(from: Data(other)) == nil)
        }
        #expect(HandOverCodec.item(plain: Data([1]), named: nil).owner == nil)
    }

    @Test func `text is read on the background that is set, whatever the system's own colour turns to`() {
        func luminance(_ color: ProtectionTheme.Color) -> Double {
            func part(_ value: UInt8) -> Double {
                let value = Double(value) / 255
                return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * part(color.red) + 0.7152 * part(color.green) + 0.0722 * part(color.blue)
        }
        let steps = stride(from: UInt8(0), through: 255, by: 51)
        for red in steps {
            for green in steps {
                for blue in steps {
                    var theme = ProtectionTheme()
                    theme.background = .init(red: red, green: green, blue: blue)
                    let (one, other) = (
                        luminance(.init(red: red, green: green, blue: blue)), theme.textColor.map(luminance)
                    )
                    let contrast = other.map { (max(one, $0) + 0.05) / (min(one, $0) + 0.05) } ?? 0
                    #expect(contrast >= 4.5, "\(red) \(green) \(blue)")
                }
            }
        }
        #expect(ProtectionTheme().textColor == nil)
        var theme = ProtectionTheme()
        theme.foreground = .init(red: 1, green: 2, blue: 3)
        theme.background = .init(red: 0, green: 0, blue: 0)
        #expect(theme.textColor == theme.foreground && theme.secondaryTextColor == theme.foreground)
    }

    @Test func `a notification keeps back what the rules keep back`() {
        let text = NotificationText(title: "Amal", subtitle: "Plan", body: "We buy Fabrikam.")
        #expect(text.redacted(to: .allow, appName: "Notes") == text)
        for level in [NotificationLevel.block, .blockOrganizationalData] {
            let shown = text.redacted(to: level, appName: "Notes", language: "en")
            #expect(shown.title == "Notes")
            #expect(shown.subtitle.isEmpty)
            #expect(!shown.body.contains("Fabrikam"))
            #expect(!shown.keepsAttachments && !shown.keepsDetails)
        }
        #expect(text.redacted(to: .block, appName: "Notes").body.isEmpty)
    }

    @Test func `an extension that only hides notifications does so in the language that it is told`() async {
        await #expect(processExitsWith: .success) {
            let text = NotificationText(title: "Amal", body: "We buy Fabrikam.")
            let shown = text.redacted(to: .blockOrganizationalData, appName: "Notes", language: "de-CH")
            #expect(shown.body == "Öffnen Sie die App, um es zu lesen.")
        }
    }

    @Test func `only what leads out of a page is asked about`() throws {
        let inside = try #require(URL(string: "https://intranet.contoso.example/a"))
        let outside = try #require(URL(string: "https://example.org/"))
        let no = PolicyDecision(reasons: [
            PolicyReason(rule: .webLink, message: "m", remedy: "r", verdict: .block)
        ])
        let yes = PolicyDecision(reasons: [])
        func step(_ address: URL?, isMainFrame: Bool = true, _ decision: PolicyDecision) -> WebNavigation {
            WebNavigation.step(
                to: address, isMainFrame: isMainFrame, isExternal: { $0.host() != "intranet.contoso.example" },
                decision: { _ in decision })
        }
        #expect(step(inside, no) == .inside)
        #expect(step(outside, yes) == .outside(outside))
        #expect(step(outside, no) == .refused(no))
        #expect(step(outside, isMainFrame: false, no) == .refused(no))
        #expect(step(nil, yes) == .refused(nil))
        #expect(step(URL(string: "data:text/html,x"), yes) == .refused(nil))
        #expect(step(URL(string: "data:image/png,x"), isMainFrame: false, no) == .inside)
        #expect(step(URL(string: "JavaScript:alert(1)"), no) == .refused(no))
    }

    @Test func `a handed-out file is gone when it is taken back, and no other with it`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let files = try HandedOutFiles(folder: folder.appending(path: "out"))
        let first = try files.handOut(Data("a".utf8), named: "plan.pdf", of: .managed("oid-a"))
        let second = try files.handOut(Data("b".utf8), named: "../../plan.pdf", of: .managed("oid-b"))
        #expect(first.lastPathComponent == "plan.pdf" && second.lastPathComponent == "plan.pdf")
        #expect(second.path.hasPrefix(folder.path))
        #expect(try Data(contentsOf: second) == Data("b".utf8))
        files.takeBack(first)
        #expect(!FileManager.default.fileExists(atPath: first.deletingLastPathComponent().path))
        #expect(FileManager.default.fileExists(atPath: second.path))
        let third = try files.handOut(Data("c".utf8), named: "../\u{301}plan.pdf", of: .managed("oid-b"))
        files.takeBack(third)
        #expect(!FileManager.default.fileExists(atPath: third.path))
        files.takeBack(folder)
        #expect(files.count == 1)
    }

    @Test func `files of an account are taken away by either of its names, and when it leaves`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let files = try HandedOutFiles(folder: folder.appending(path: "out"))
        IdentityContext.learn(
            ManagedAccount(
                id: "oid-copies", tenant: TenantID("t"), userPrincipalName: "copies@contoso.example"))
        _ = try files.handOut(Data("a".utf8), named: "a.pdf", of: .managed("Copies@contoso.example"))
        files.note(.wipeStarted(account: "oid-copies", commandID: "c"))
        #expect(files.count == 0)
        _ = try files.handOut(Data("a".utf8), named: "a.pdf", of: .managed("oid-copies"))
        files.note(.status(StatusReport(.unenrollment, of: "oid-copies", .unenrolled)))
        #expect(files.count == 0)
    }

    @Test func `a closed gate and a wipe take an account's files away, and a start takes all`() throws {
        let folder = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(folder) }
        let files = try HandedOutFiles(folder: folder.appending(path: "out"))
        let first = try files.handOut(Data("a".utf8), named: "", of: .managed("oid-a"))
        let second = try files.handOut(Data("b".utf8), named: "..", of: .managed("oid-b"))
        let third = try files.handOut(Data("c".utf8), named: "c", of: .personal)
        files.note(.gate(account: "oid-a", .closed([])))
        #expect(!FileManager.default.fileExists(atPath: first.path))
        files.note(.gate(account: "oid-b", .opened))
        #expect(FileManager.default.fileExists(atPath: second.path))
        files.note(.wipeStarted(account: "oid-b", commandID: "c"))
        #expect(!FileManager.default.fileExists(atPath: second.path))
        #expect(FileManager.default.fileExists(atPath: third.path))
        _ = try HandedOutFiles(folder: folder.appending(path: "out"))
        #expect(!FileManager.default.fileExists(atPath: third.path))
    }
}

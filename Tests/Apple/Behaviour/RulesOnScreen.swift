import CordonApple
import CordonUIKit
import Foundation
import FoundationNetworking
import QuickLook
import Testing
import UIKit
import WebKit

extension AppleAdapters {
    /// An account with rules, from the launch to the ways out.
    @Suite @MainActor struct RulesOnScreen {
        private let closed: [String: JSONValue] = [
            "AppSharingToLevel": 1, "AppSharingFromLevel": 2, "ClipboardSharingLevel": 1, "PrintingBlocked": true,
            "PINEnabled": false,
        ]
        private let owner = Identity.managed(Stage.account)

        @Test func `a launch asks for a PIN, leaving closes the gate, and the return asks again`() async throws {
            let stage = try await Stage(rules: ["PINEnabled": true, "PINMinLength": 4, "SimplePINAllowed": true])
            let scene = stage.scene("rules one")
            async let launched = stage.protection.launch(Stage.account)
            try await stage.passGate(in: scene)
            #expect(await launched.isOpen)
            scene.stubDeactivate()
            #expect(stage.protection.gate.isOpen(for: Stage.account), "a dialog of the system closes nothing")
            scene.stubBackground()
            #expect(!stage.protection.gate.isOpen(for: Stage.account), "closed before the callback has returned")
            #expect(scene.stubPicture?.windowLevel != .normal)
            scene.stubForeground()
            scene.stubActivate()
            async let returned = stage.protection.resume(Stage.account)
            try await stage.passGate(in: scene)
            #expect(await returned.isOpen)
        }

        @Test func `text that stays in managed apps is sealed on the pasteboard, and this app reads it again`()
            async throws
        {
            let stage = try await Stage(rules: closed)
            let scene = stage.scene("rules two")
            async let launched = stage.protection.launch(Stage.account)
            try await stage.passGate(in: scene)
            _ = await launched
            let board = PasteboardClipboard()
            try await stage.protection.outlets.copy("We buy Fabrikam.", of: owner, to: board)
            #expect(UIPasteboard.general.string == nil)
            #expect(
                UIPasteboard.general.items.allSatisfy { item in
                    item.values.allSatisfy {
                        ($0 as? Data).map { !String(decoding: $0, as: UTF8.self).contains("Fabrikam") } ?? false
                    }
                })
            #expect(try await stage.protection.outlets.paste(from: board, for: owner) == "We buy Fabrikam.")
            await #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
                try await stage.protection.outlets.paste(from: board, for: .personal)
            }
        }

        @Test func `a refused print says so with one error, and shows no dialog`() async throws {
            let stage = try await Stage(rules: closed)
            let scene = stage.scene("rules three")
            async let launched = stage.protection.launch(Stage.account)
            try await stage.passGate(in: scene)
            _ = await launched
            do {
                try await stage.protection.outlets.print(Data("x".utf8), title: "t", of: owner, on: SystemPrinter())
                Issue.record("it was printed")
            } catch { #expect(error.denial?.reasons.first?.setting == "printBlocked") }
        }

        @Test func `no share sheet and no preview where data stays in managed apps, and none is left of the copy`()
            async throws
        {
            let stage = try await Stage(rules: closed)
            let files = try HandedOutFiles(
                folder: stage.folder.appending(path: "out"), following: stage.protection)
            #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
                try ProtectedShareSheet(stage.folder, of: owner, by: stage.protection)
            }
            #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
                try ProtectedPreview.open(
                    Data("x".utf8), named: "a.pdf", of: owner, by: stage.protection, handedOutBy: files)
            }
            let preview = try ProtectedPreview.open(
                Data("x".utf8), named: "a.pdf", of: .personal, by: stage.protection, handedOutBy: files)
            #expect(files.count == 1)
            preview.delegate?.previewControllerDidDismiss(preview)
            #expect(files.count == 0)
            let sheet = try ProtectedShareSheet(stage.folder, of: .personal, by: stage.protection)
            #expect(sheet.excludedActivityTypes?.isEmpty ?? false)
        }

        @Test func `what is dragged out of organisation data is for this app alone`() async throws {
            let stage = try await Stage(rules: closed)
            let session = Dragging()
            let drag = ProtectedDrag(stage.protection, owner: { owner }, text: { "We buy Fabrikam." })
            let interaction = UIDragInteraction(delegate: drag)
            let items = drag.dragInteraction(interaction, itemsForBeginning: session)
            #expect(items.first?.itemProvider.stubTypes[PasteboardCodec.textType] == .ownProcess)
            #expect(drag.dragInteraction(interaction, sessionIsRestrictedToDraggingApplication: session))
            let personal = ProtectedDrag(stage.protection, owner: { .personal }, text: { "mine" })
            let free = personal.dragInteraction(interaction, itemsForBeginning: session)
            #expect(free.first?.itemProvider.stubTypes[PasteboardCodec.textType] == .all)
            #expect(!personal.dragInteraction(interaction, sessionIsRestrictedToDraggingApplication: session))
        }

        @Test func `a page goes on inside, and what leads out is opened outside or refused`() async throws {
            let stage = try await Stage(rules: closed)
            let scene = stage.scene("rules four")
            async let launched = stage.protection.launch(Stage.account)
            try await stage.passGate(in: scene)
            _ = await launched
            var refused = 0
            let opener = SeenLinks()
            let pages = WebViewGuard(
                stage.protection, owner: .personal, opener: opener,
                isExternal: { $0.host() != "intranet.contoso.example" }, whenRefused: { _ in refused += 1 })
            let inside = try #require(URL(string: "https://intranet.contoso.example/"))
            let outside = try #require(URL(string: "https://example.org/"))
            #expect(await answer(of: pages, to: inside) == .allow)
            #expect(await answer(of: pages, to: outside) == .cancel)
            try await stage.until { opener.links == [outside] }
            #expect(refused == 0)
        }

        private func answer(of pages: WebViewGuard, to address: URL) async -> WKNavigationActionPolicy? {
            let answer = Answer()
            pages.webView(
                WKWebView(), decidePolicyFor: WKNavigationAction(stubRequest: URLRequest(url: address))
            ) { answer.policy = $0 }
            return answer.policy
        }
    }
}

@MainActor private final class Answer {
    var policy: WKNavigationActionPolicy?
}

@MainActor private final class Dragging: UIDragSession {
    var items: [UIDragItem] = []
    var localContext: Any?
}

@MainActor private final class SeenLinks: LinkOpener {
    private(set) var links: [URL] = []
    func open(_ address: URL) async throws { links.append(address) }
}

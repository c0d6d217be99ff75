import AppIntents
import CordonApple
import CordonUIKit
import Foundation
import Intents
import Testing
import UIKit

@testable import Cordon

extension AppleAdapters {
    /// What other apps hand over, what Siri is told, and how screens look.
    @Suite @MainActor struct WaysIn {
        private func request(_ type: String, _ data: Data) -> NSExtensionContext {
            let provider = NSItemProvider()
            provider.suggestedName = "plan.txt"
            provider.registerDataRepresentation(forTypeIdentifier: type, visibility: .all) { load in
                load(data, nil)
                return nil
            }
            let item = NSExtensionItem()
            item.attachments = [provider]
            let context = NSExtensionContext()
            context.inputItems = [item]
            return context
        }

        @Test func `an extension takes what an app with Cordon hands over, and a plain file as no one's`() async throws
        {
            let stage = try await Stage()
            let sent = SharedItem(owner: "oid-a", senderBundleID: "example.mail", name: "n", contents: Data([1]))
            let taking = TakingExtension()
            let sealed = request(HandOverCodec.itemType, try HandOverCodec.data(of: sent))
            taking.beginRequest(with: sealed)
            try await stage.until { sealed.stubEnded != nil }
            let plain = request("public.data", Data("x".utf8))
            taking.beginRequest(with: plain)
            try await stage.until { plain.stubEnded != nil }
            #expect(sealed.stubEnded == true && plain.stubEnded == true)
            #expect(taking.items.first == sent)
            #expect(taking.items.last == HandOverCodec.item(plain: Data("x".utf8), named: "plan.txt"))
        }

        @Test func `an extension says that nothing was taken: of nothing, of what is damaged, of what it may not`()
            async throws
        {
            let stage = try await Stage()
            let taking = TakingExtension()
            let empty = NSExtensionContext()
            taking.beginRequest(with: empty)
            #expect(empty.stubEnded == false)
            let damaged = request(HandOverCodec.itemType, Data("{".utf8))
            taking.beginRequest(with: damaged)
            #expect(damaged.stubEnded == false)
            #expect(taking.items.isEmpty)
            let refused = request("public.data", Data("x".utf8))
            ProtectedOpenInExtension().beginRequest(with: refused)
            try await stage.until { refused.stubEnded != nil }
            #expect(refused.stubEnded == false)
        }

        @Test func `Siri learns of what the rules let it, under a name that tells nothing, and forgets it at a wipe`()
            async throws
        {
            let stage = try await Stage(rules: ["AppSharingToLevel": 2, "PINEnabled": false])
            let donations = ProtectedDonations(stage.protection)
            try await donations.donate(INInteraction(intent: INIntent(), response: nil), of: .personal)
            // An account has one name, however it is spelt.
            for spelling in [Stage.account.rawValue, Stage.account.rawValue.uppercased()] {
                let account = Identity.managed(AccountID(spelling))
                try await donations.donate(INInteraction(intent: INIntent(), response: nil), of: account)
            }
            #expect(INInteraction.stubDonated.values.sorted() == [1, 2])
            #expect(!INInteraction.stubDonated.keys.contains { $0.contains("contoso") })
            stage.protection.context.events.post(.wipeStarted(account: Stage.account, commandID: "c"))
            try await stage.until { INInteraction.stubDonated.count == 1 }
            INInteraction.stubDuring = { MainActor.assumeIsolated { stage.denyEverything() } }
            defer { INInteraction.stubDuring = nil }
            try await donations.donate(
                INInteraction(intent: INIntent(), response: nil), of: .managed(Stage.account))
            #expect(INInteraction.stubDonated.count == 1, "what the account lost meanwhile does not stay")
            donations.takeBack(nil)
            #expect(INInteraction.stubDonated.isEmpty)
        }

        @Test func `what Siri says of a refusal is the reason`() {
            let error = ProtectionError(.noPermit, "the permit was used before")
            #expect(error.localizedStringResource.key.contains("the permit was used before"))
        }

        @Test func `a theme without dark mode stays light, and its text is read`() {
            let screens = GateViewController { _, _, _ in }
            var cover = GateScreen.cover(of: nil)
            cover.theme.supportsDarkMode = false
            cover.theme.background = .init(red: 255, green: 255, blue: 255)
            screens.show(ShownScreen(id: 1, screen: cover))
            #expect(screens.overrideUserInterfaceStyle == .light)
            cover.theme.supportsDarkMode = true
            screens.show(ShownScreen(id: 2, screen: cover))
            #expect(screens.overrideUserInterfaceStyle == .unspecified)
        }
    }
}

private final class TakingExtension: ProtectedOpenInExtension {
    // Read after the request has ended.
    nonisolated(unsafe) private(set) var items: [SharedItem] = []

    override func take(_ item: SharedItem) async throws { items.append(item) }
}

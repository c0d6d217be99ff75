import CordonApple
import CordonUIKit
import Foundation
import LocalAuthentication
import Testing
import UIKit

@testable import Cordon

/// Everything here shares the stand-ins' one app, pasteboard and Keychain.
@Suite(.serialized) @MainActor struct AppleAdapters {}

extension AppleAdapters {
    @Suite @MainActor struct ScenesAndScreens {
        private let account = ManagedAccount(
            id: "oid-a", tenant: TenantID("t"), userPrincipalName: "amal@contoso.example")

        private var prompt: PINPrompt {
            PINPrompt(
                account: account, digitsOnly: true, attemptsLeft: 3, lastWasWrong: false, wait: .zero, biometry: nil,
                canCancel: true)
        }

        @Test func `the picture for the app switcher is of the cover`() async throws {
            let stage = try await Stage()
            let scene = stage.scene("one")
            #expect(stage.text(of: scene) == nil)
            scene.stubDeactivate()
            scene.stubBackground()
            #expect(scene.stubPicture?.windowLevel.rawValue == UIWindow.Level.alert.rawValue + 1)
            #expect(stage.text(of: scene) == ["Your organisation's data is covered."])
        }

        @Test func `a scene that goes to the background at once is covered in its picture too`() async throws {
            let stage = try await Stage()
            let scene = stage.scene("two")
            scene.stubBackground()
            #expect(scene.stubPicture?.windowLevel != .normal)
        }

        @Test func `a scene is covered from its making until it is active`() async throws {
            let stage = try await Stage()
            let scene = UIWindowScene(stubName: "three")
            UIWindow(windowScene: scene).makeKeyAndVisible()
            scene.stubConnect()
            #expect(stage.text(of: scene) != nil)
            scene.stubForeground()
            #expect(stage.text(of: scene) != nil)
            scene.stubActivate()
            #expect(stage.text(of: scene) == nil)
        }

        @Test func `leaving and returning again and again ends uncovered and open`() async throws {
            let stage = try await Stage()
            let scene = stage.scene("four")
            for _ in 0..<20 {
                scene.stubDeactivate()
                scene.stubBackground()
                #expect(scene.stubPicture?.windowLevel != .normal)
                scene.stubForeground()
                scene.stubActivate()
            }
            #expect(stage.text(of: scene) == nil)
        }

        @Test func `the PIN that is typed on the screen is the answer, and nothing stays in the field`() async throws {
            let stage = try await Stage()
            let scene = stage.scene("five")
            async let answer = stage.interface.enterPIN(prompt)
            try await stage.until { stage.field(of: scene) != nil }
            let field = try #require(stage.field(of: scene))
            #expect(field.isSecureTextEntry && field.keyboardType == .numberPad)
            #expect(stage.text(of: scene) == ["Enter the PIN", "Account: amal@contoso.example"])
            #expect(scene.stubKey?.windowLevel != .normal, "only a key window is typed into")
            field.text = "4711"
            field.stubTrigger()
            #expect(await answer == .entered("4711"))
            #expect(field.text == nil)
            try await stage.until { stage.text(of: scene) == nil }
            #expect(scene.stubKey?.windowLevel == .normal)
        }

        @Test func `a screen reader hears the screen when it comes`() async throws {
            let stage = try await Stage()
            let scene = stage.scene("six")
            async let answer = stage.interface.enterPIN(prompt)
            try await stage.until { UIAccessibility.stubSaid.last?.hasPrefix("Enter the PIN.") ?? false }
            try await stage.until { !stage.buttons(of: scene).isEmpty }
            let cancel = try #require(stage.buttons(of: scene).first { $0.accessibilityLabel == "Cancel" })
            cancel.stubTrigger()
            #expect(await answer == .cancelled)
        }

        @Test func `Face ID makes the scene inactive, and neither covers the PIN screen nor asks twice`() async throws {
            let stage = try await Stage()
            let scene = stage.scene("seven")
            let seen = Seen()
            LAContext.stubAsked = 0
            LAContext.stubAnswer = true
            LAContext.stubDuring = {
                try? await stage.until { stage.text(of: scene)?.first == "Enter the PIN" }
                scene.stubDeactivate()
                seen.text = stage.text(of: scene)
                scene.stubActivate()
            }
            defer { LAContext.stubDuring = nil }
            let prompt = PINPrompt(
                account: account, digitsOnly: true, attemptsLeft: 3, lastWasWrong: false, wait: .zero, biometry: .face,
                canCancel: true)
            #expect(await stage.interface.enterPIN(prompt) == .recognised(.face))
            #expect(LAContext.stubAsked == 1)
            #expect(seen.text?.first == "Enter the PIN")
            try await stage.until { stage.text(of: scene) == nil }
        }

        @Test func `a recorded screen is covered where the rules forbid it`() async throws {
            let stage = try await Stage()
            let scene = stage.scene("eight")
            defer { scene.stubDisconnect() }
            stage.rule.isAllowed = false
            scene.stubCapture(true)
            #expect(stage.text(of: scene) != nil)
            scene.stubCapture(false)
            #expect(stage.text(of: scene) == nil)
            stage.rule.isAllowed = true
            scene.stubCapture(true)
            #expect(stage.text(of: scene) == nil)
            // What an app asks besides the rules is asked again when the scene is back.
            stage.rule.isAllowed = false
            scene.stubDeactivate()
            scene.stubActivate()
            #expect(stage.text(of: scene) != nil)
        }

        @Test
        func `a window is covered while it is recorded and shows an account that forbids it, and not before or after`()
            async throws
        {
            let stage = try await Stage(rules: ["AppSharingToLevel": 1, "PINEnabled": false], asksOfCapture: true)
            let scene = stage.scene("recorded")
            defer { scene.stubDisconnect() }
            try await stage.open(in: scene)
            #expect(await stage.protection.windows.switchIdentity(to: .personal).result == .switched)
            scene.stubCapture(true)
            #expect(stage.text(of: scene) == nil, "it shows no account's data")
            #expect(await stage.protection.windows.switchIdentity(to: .managed(Stage.account)).result == .switched)
            #expect(stage.text(of: scene) != nil, "it is covered before the app draws")
            scene.stubDeactivate()
            scene.stubActivate()
            #expect(stage.text(of: scene) != nil, "nor does the return show it")
            #expect(await stage.protection.windows.switchIdentity(to: .personal).result == .switched)
            #expect(stage.text(of: scene) == nil)
        }

        @Test func `a recorded window is looked at again whatever of its account's rules has changed`() async throws {
            let stage = try await Stage(rules: ["AppSharingToLevel": 1, "PINEnabled": false], asksOfCapture: true)
            let scene = stage.scene("recorded on")
            defer { scene.stubDisconnect() }
            try await stage.open(in: scene)
            #expect(await stage.protection.windows.switchIdentity(to: .managed(Stage.account)).result == .switched)
            scene.stubCapture(true)
            let rules = try #require(stage.protection.context.accounts.state(of: Stage.account)?.rules)
            #expect(stage.text(of: scene) != nil)
            stage.activate(rules, ["com.microsoft.intune.mam.screencapturecontrol": "Disabled"])
            try await stage.until { stage.text(of: scene) == nil }
            // The policy is the same, the configuration is not.
            stage.activate(rules)
            try await stage.until { stage.text(of: scene) != nil }
            // No policy in either.
            stage.activate(.noneTargeted)
            try await stage.until { stage.text(of: scene) == nil }
            stage.denyEverything()
            try await stage.until { stage.text(of: scene) != nil }
        }

        @Test func `the window in front is the one that is asked in`() async throws {
            let stage = try await Stage()
            let first = stage.scene("nine")
            let second = stage.scene("ten")
            #expect(IdentityContext.keyWindow == second.id)
            second.stubDeactivate()
            first.stubActivate()
            #expect(IdentityContext.keyWindow == first.id)
            first.stubDisconnect()
            #expect(IdentityContext.keyWindow == second.id)
            _ = stage
        }
    }
}

@MainActor private final class Seen {
    var text: [String]?
}

import BackgroundTasks
import CordonApple
import CordonSwiftUI
import Foundation
import LocalAuthentication
import SwiftUI
import Testing
import UIKit

@testable import Cordon

extension AppleAdapters {
    /// A view of an account's data in SwiftUI, and Cordon's screens in it.
    @Suite @MainActor struct AccountsInSwiftUI {
        /// An app that has started, with a scene in front and a view of the account's data.
        private func whileShown(
            hiding delegate: (any IdentityDelegate)? = nil,
            _ act: (Stage, UIWindowScene, StubHost, ProtectedApp) async throws -> Void
        ) async throws {
            var configuration = Stage.configuration(rules: [
                "PINEnabled": true, "PINMinLength": 4, "SimplePINAllowed": true,
            ])
            configuration.settings.holdsSeveralIdentities = true
            configuration.identityDelegate = delegate
            let task = "example.swiftui.\(UUID().uuidString)"
            let app = ProtectedApp(backgroundTask: task) { [configuration] in configuration }
            // Starts the protection, and reads no events beyond the test.
            let started = BGTaskScheduler.shared.stubRun(task)
            try await until(StubHost()) { started.stubEnd != nil }
            let stage = try Stage(of: app, configuration)
            let scene = stage.scene(task)
            defer { scene.stubDisconnect() }
            let host = StubHost(in: scene)
            host.show(Text("plan").cordon(account: Stage.account, in: app))
            try await until(host) { stage.text(of: scene) != nil }
            try await act(stage, scene, host, app)
        }

        private func cancel(_ stage: Stage, _ scene: UIWindowScene, _ host: StubHost) async throws {
            try await stage.until {
                // The notice that comes before.
                if stage.field(of: scene) == nil { stage.buttons(of: scene).first?.stubTrigger() }
                return stage.field(of: scene) != nil
            }
            #expect(!host.texts.contains("plan"))
            let cancel = try #require(stage.buttons(of: scene).first { $0.accessibilityLabel == "Cancel" })
            cancel.stubTrigger()
            try await until(host) { host.buttons["Try again"] != nil }
            #expect(!host.texts.contains("plan"))
        }

        private func until(_ host: StubHost, _ holds: () -> Bool) async throws {
            let end = ContinuousClock.now + .seconds(300)
            while !holds() {
                guard .now < end else { throw CancellationError() }
                await Task.yield()
                host.redraw()
            }
        }

        @Test func `who has cancelled tries again from the cover`() async throws {
            try await whileShown { stage, scene, host, _ in
                try await cancel(stage, scene, host)
                let tryAgain = try #require(host.buttons["Try again"])
                tryAgain()
                host.redraw()
                #expect(host.buttons.isEmpty)
                try await stage.passGate(in: scene)
                try await until(host) { host.texts == ["plan"] }
                #expect(IdentityContext.windowIdentity(of: scene.id) == .managed(Stage.account))
            }
        }

        @Test func `a gate that is passed elsewhere uncovers the view, and one that closes covers it`() async throws {
            try await whileShown { stage, scene, host, _ in
                try await cancel(stage, scene, host)
                async let resumed = stage.protection.resume(Stage.account)
                try await stage.passGate(in: scene)
                #expect(await resumed.isOpen)
                try await until(host) { host.texts == ["plan"] }
                scene.stubBackground()
                host.redraw()
                #expect(!host.texts.contains("plan"))
            }
        }

        @Test func `a view gives its own window another account, also while another window is in front`() async throws {
            try await whileShown { stage, scene, host, app in
                try await stage.passGate(in: scene)
                try await until(host) { host.texts == ["plan"] }
                let front = stage.scene("front \(UUID().uuidString)")
                defer { front.stubDisconnect() }
                host.show(Text("diary").cordon(account: nil, in: app))
                try await until(host) { host.texts == ["diary"] }
                #expect(IdentityContext.windowIdentity(of: scene.id) == .personal)
                #expect(IdentityContext.windowIdentity(of: front.id) == nil)
            }
        }

        @Test func `two windows of one account are both given back, each as the account's`() async throws {
            try await whileShown { stage, scene, host, app in
                try await stage.passGate(in: scene)
                try await until(host) { host.texts == ["plan"] }
                let second = stage.scene("second \(UUID().uuidString)")
                defer { second.stubDisconnect() }
                let other = StubHost(in: second)
                other.show(Text("plan").cordon(account: Stage.account, in: app))
                try await until(other) { other.texts == ["plan"] }
                for scene in [scene, second] { scene.stubBackground() }
                for host in [host, other] { host.redraw() }
                #expect(!host.texts.contains("plan") && !other.texts.contains("plan"))
                for scene in [scene, second] {
                    scene.stubForeground()
                    scene.stubActivate()
                }
                // The period has not passed: it opens by itself.
                try await stage.until { stage.protection.gate.isOpen(for: Stage.account) }
                try await until(host) {
                    other.redraw()
                    return host.texts == ["plan"] && other.texts == ["plan"]
                }
                for scene in [scene, second] {
                    #expect(IdentityContext.windowIdentity(of: scene.id) == .managed(Stage.account))
                }
            }
        }

        @Test func `rules that ask at each opening ask once at a return`() async throws {
            // Which would answer a second question by itself.
            LAContext.stubBiometry = .none
            defer { LAContext.stubBiometry = .faceID }
            try await whileShown { stage, scene, host, _ in
                try await stage.passGate(in: scene)
                try await until(host) { host.texts == ["plan"] }
                try stage.askAtEveryReturn()
                scene.stubBackground()
                host.redraw()
                #expect(!host.texts.contains("plan"))
                scene.stubForeground()
                scene.stubActivate()
                try await stage.passGate(in: scene)
                try await until(host) { host.texts == ["plan"] }
            }
        }

        @Test func `a gate that closes takes the account from a view that was shown, and its opening gives it back`()
            async throws
        {
            try await whileShown(hiding: Hiding()) { stage, scene, host, _ in
                try await stage.passGate(in: scene)
                try await until(host) { host.texts == ["plan"] }
                let protection = stage.protection
                let rules = try #require(protection.context.accounts.state(of: Stage.account)?.rules)
                scene.stubBackground()
                host.redraw()
                #expect(!host.texts.contains("plan"))
                // Refused by rules, not by a PIN, which the stand-in of Face ID would answer.
                stage.denyEverything()
                scene.stubForeground()
                scene.stubActivate()
                try await stage.until {
                    stage.buttons(of: scene).first { $0.accessibilityLabel == "Cancel" }?.stubTrigger()
                    return IdentityContext.windowIdentity(of: scene.id) == .personal
                }
                try await until(host) { host.buttons["Try again"] != nil }
                stage.activate(rules)
                // The attempt that was refused still hands its screen back: who asks meanwhile is told of its end.
                let opening = Task { while !Task.isCancelled, await !protection.resume(Stage.account).isOpen {} }
                defer { opening.cancel() }
                var identity: Identity?
                try await until(host) {
                    identity = IdentityContext.windowIdentity(of: scene.id)
                    return host.texts == ["plan"]
                }
                #expect(identity == .managed(Stage.account), "it is the window's before anything is drawn")
            }
        }

        @Test func `what was typed on one screen is not on the next`() throws {
            let answered = Answered()
            func screen(_ number: Int) -> GateScreenView {
                let prompt = NewPINPrompt(
                    account: ManagedAccount(
                        id: "oid-a", tenant: TenantID("t"), userPrincipalName: "amal@contoso.example"),
                    minimumLength: 4, characters: .numeric, simpleIsBlocked: false, problems: [], canCancel: true)
                return GateScreenView(ShownScreen(id: number, screen: .newPIN(prompt))) { _, typed, id in
                    answered.all.append("\(typed) to \(id) of \(number)")
                }
            }
            let host = StubHost()
            func field() throws -> UITextField {
                let stack = try #require(host.controller?.view.subviews.first?.subviews.first as? UIStackView)
                return try #require(stack.arrangedSubviews.compactMap { $0 as? UITextField }.first)
            }
            host.show(screen(1))
            try field().text = "47"
            host.show(screen(2))
            #expect(try (field().text ?? "").isEmpty)
            try field().text = "4711"
            try field().stubTrigger()
            #expect(answered.all == ["4711 to 2 of 2"])
        }
    }
}

/// An app that takes an account away when it is asked to.
private struct Hiding: IdentityDelegate {
    func identitySwitchRequired(_ request: IdentityRequest, answer: IdentityAnswer) async throws { answer.fail() }
    func hideAccount(
        _ account: AccountID, in window: WindowID, because block: AccountBlock, answer: IdentityAnswer
    ) async throws { answer.succeed() }
}

@MainActor private final class Answered {
    var all: [String] = []
}

import AuthenticationServices
import BackgroundTasks
import CordonApple
import CordonUIKit
import Crypto
import CryptoKit
import Foundation
import Security
import Testing
import UIKit
import UserNotifications
import WebKit

extension AppleAdapters {
    @Suite @MainActor struct SystemServices {
        init() { StubKeychain.shared.reset() }

        @Test func `the root key is one, stays on the device and survives the app's removal`() throws {
            let first = try KeychainKeys().rootKey()
            #expect(try KeychainKeys().rootKey() == first)
            #expect(StubKeychain.shared.classes == [kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly])
            #expect(StubKeychain.shared.areInDataProtectionKeychain)
        }

        @Test func `a secret is gone when it is destroyed, and what is retired stays so`() throws {
            let keys: KeychainKeys = KeychainKeys()
            let secret = try keys.makeSecret(for: "ab")
            #expect(try keys.secret(for: "ab") == secret)
            #expect(try keys.makeSecret(for: "ab") != secret)
            try keys.destroySecret(for: "ab")
            try keys.destroySecret(for: "ab")
            #expect(try keys.secret(for: "ab") == nil)
            #expect(try !keys.isRetired("ab"))
            try keys.retire("ab")
            try keys.retire("ab")
            #expect(try keys.isRetired("ab"))
        }

        @Test func `a Keychain that does not answer is not an empty one`() throws {
            _ = try KeychainKeys().rootKey()
            StubKeychain.shared.answer(errSecInteractionNotAllowed)
            #expect(throws: VaultError.self) { try KeychainKeys().rootKey() }
            #expect(throws: VaultError.self) { try KeychainKeys().secret(for: "ab") }
            #expect(throws: VaultError.self) { try KeychainKeys().isRetired("ab") }
            #expect(throws: SignInError.self) { try KeychainSecretStore().secret(named: "n") }
            #expect(throws: ProtectionError.self) { try KeychainStateCounter(SystemKeychain()).value(of: "n") }
            StubKeychain.shared.answer(0)
        }

        @Test func `a counter in the Keychain only rises`() throws {
            let counter = KeychainStateCounter(SystemKeychain())
            #expect(try counter.value(of: "n") == 0)
            try counter.raise("n", to: 3)
            try counter.raise("n", to: 2)
            #expect(try counter.value(of: "n") == 3)
            try counter.raise("n", to: 4)
            #expect(try KeychainStateCounter(SystemKeychain()).value(of: "n") == 4)
        }

        @Test func `a sign-in secret is replaced and destroyed`() throws {
            let store = KeychainSecretStore()
            try store.keep(Data([1]), named: "n")
            try store.keep(Data([2]), named: "n")
            #expect(try store.secret(named: "n") == Data([2]))
            try store.destroy(named: "n")
            try store.destroy(named: "n")
            #expect(try store.secret(named: "n") == nil)
        }

        @Test func `an app that is launched before the first unlock waits for it`() async throws {
            StubKeychain.shared.answer(errSecInteractionNotAllowed)
            var isStarted = false
            let starting = Task {
                try await AppProtection.whenUnlocked { isStarted = true }
            }
            for _ in 0..<50 { await Task.yield() }
            #expect(!isStarted)
            NotificationCenter.default.post(
                name: UIApplication.protectedDataDidBecomeAvailableNotification, object: nil)
            for _ in 0..<50 { await Task.yield() }
            #expect(!isStarted)
            StubKeychain.shared.answer(0)
            NotificationCenter.default.post(
                name: UIApplication.protectedDataDidBecomeAvailableNotification, object: nil)
            try await starting.value
            #expect(isStarted)
        }

        @Test func `a signer of the Secure Enclave is the same after a restart, and signs`() throws {
            let first = try SecureEnclaveSigner()
            let second = try SecureEnclaveSigner()
            #expect(first.publicKey == second.publicKey)
            #expect(try first.signature(for: Data("x".utf8)).count == 64)
        }

        @Test func `without an enclave there is no signer`() {
            SecureEnclave.stubIsAvailable = false
            defer { SecureEnclave.stubIsAvailable = true }
            #expect(throws: ProtocolError.self) { try SecureEnclaveSigner() }
        }

        @Test func `another app reads plain text alone from the pasteboard`() async throws {
            let board = PasteboardClipboard()
            let sealed = ClipboardItem(owner: "oid-a", text: nil, sealed: Data([1, 2]))
            try await board.write(sealed)
            #expect(UIPasteboard.general.string == nil)
            #expect(UIPasteboard.general.stubOptions[.localOnly] as? Bool == true)
            #expect(UIPasteboard.general.stubOptions[.expirationDate] is Date)
            #expect(try await board.read() == sealed)
            try await board.write(ClipboardItem(owner: nil, text: "mine", sealed: nil))
            #expect(UIPasteboard.general.string == "mine")
            #expect(UIPasteboard.general.stubOptions[.localOnly] as? Bool == false)
        }

        @Test func `what another app wrote is text of no account`() async throws {
            UIPasteboard.general.string = "from elsewhere"
            #expect(
                try await PasteboardClipboard().read() == ClipboardItem(owner: nil, text: "from elsewhere", sealed: nil)
            )
            UIPasteboard.general.setItems([["public.png": Data([1])]])
            #expect(try await PasteboardClipboard().read() == nil)
        }

        @Test func `a printer that the person turns away from prints nothing and keeps nothing`() async throws {
            UIPrintInteractionController.shared.stubFinishes = false
            await #expect(throws: CancellationError.self) {
                try await SystemPrinter().print(Data("x".utf8), title: "t")
            }
            UIPrintInteractionController.shared.stubFinishes = true
            try await SystemPrinter().print(Data("x".utf8), title: "t")
            #expect(UIPrintInteractionController.shared.printingItem == nil)
            await #expect(throws: ProtectionError.self) { try await SystemPrinter().print(Data(), title: "t") }
        }

        @Test func `a background task reports its end once, also when it is ended`() async throws {
            let (starts, start) = AsyncStream.makeStream(of: Void.self)
            let work = try #require(
                BackgroundWork("example.refresh") {
                    for await _ in starts { break }
                    return Date(timeIntervalSince1970: 1)
                })
            #expect(BackgroundWork("example.refresh") { .distantFuture } == nil)
            let ended = BGTaskScheduler.shared.stubRun("example.refresh")
            ended.expirationHandler?()
            #expect(ended.stubEnd == false)
            try work.schedule(notBefore: .distantFuture)
            #expect(BGTaskScheduler.shared.stubRequests.last?.earliestBeginDate == .distantFuture)
            start.finish()
        }

        @Test func `a page that is closed is a sign-in that was cancelled`() async throws {
            let page = try #require(URL(string: "https://id.contoso.example/authorize"))
            let redirect = try #require(URL(string: "notes://back"))
            let window = UIWindow(windowScene: UIWindowScene(stubName: "page"))
            let launcher = BrowserLauncher.authenticationSession { window }
            ASWebAuthenticationSession.stubAnswer = redirect
            #expect(try await launcher.visit(page, redirect: redirect) == redirect)
            ASWebAuthenticationSession.stubAnswer = nil
            await #expect(throws: SignInError(.cancelled, .stopped, "")) {
                try await launcher.visit(page, redirect: redirect)
            }
            await #expect(throws: SignInError.self) {
                try await BrowserLauncher.authenticationSession { nil }.visit(page, redirect: redirect)
            }
        }

        @Test func `a notification of an account that cannot be told shows nothing`() {
            let content = UNMutableNotificationContent()
            content.title = "Amal"
            content.body = "We buy Fabrikam."
            content.userInfo = ["conversation": "Fabrikam"]
            var shown: [UNNotificationContent] = []
            let service = ProtectedNotificationService()
            service.didReceive(UNNotificationRequest(identifier: "1", content: content)) { shown.append($0) }
            service.serviceExtensionTimeWillExpire()
            #expect(shown.count == 1)
            #expect(shown.first?.body.isEmpty ?? false)
            #expect(shown.first?.title != "Amal")
            #expect(shown.first?.userInfo.isEmpty ?? false)
        }

        @Test func `App Attest signs the hash of what it is given, by a key whose name has 32 bytes`() async throws {
            let platform = AppAttest()
            let (challenge, hash) = (Data("x".utf8), Data(Crypto.SHA256.hash(data: Data("x".utf8))))
            let (key, attestation) = try await platform.attest(challenge)
            #expect(platform.isSupported && Data(base64Encoded: key)?.count == 32)
            #expect(attestation == hash)
            #expect(try await platform.assertion(of: challenge, by: key) == hash)
        }

        @Test func `a jailbreak that leaves traces is seen`() {
            #expect(RootTraces(exists: { _ in false }, writes: { _ in false }).found.isEmpty)
            #expect(RootTraces(exists: { $0 == "/var/jb" }, writes: { _ in false }).found == ["/var/jb"])
            #expect(!RootTraces(exists: { _ in false }, writes: { _ in true }).found.isEmpty)
        }
    }
}

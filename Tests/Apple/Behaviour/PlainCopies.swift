import CordonApple
import CordonUIKit
import Foundation
import Testing
import UIKit

@testable import Cordon

extension AppleAdapters {
    /// Plain copies for views of the system, and what the system's pickers and sheets do with them.
    @Suite @MainActor struct PlainCopies {
        private let open: [String: JSONValue] = [
            "AppSharingToLevel": 2, "AppSharingFromLevel": 2, "PINEnabled": false,
        ]
        private let owner = Identity.managed(Stage.account)
        private let presenter = UIViewController()
        private let window = UIWindow(windowScene: UIWindowScene(stubName: "presenter"))

        init() {
            window.rootViewController = presenter
            window.makeKeyAndVisible()
        }

        private func files(of stage: Stage) throws -> HandedOutFiles {
            try HandedOutFiles(folder: stage.folder.appending(path: "out"), following: stage.protection)
        }

        private func scene(_ stage: Stage) -> UIWindowScene { stage.scene("copies \(UUID().uuidString)") }

        private func picked() throws -> URL {
            let file = FileManager.default.temporaryDirectory.appending(path: "picked-\(UUID().uuidString)")
            try Data("We buy Fabrikam.".utf8).write(to: file)
            return file
        }

        @Test func `a closed gate takes an account's copies away, and no more are handed out behind it`() async throws {
            let stage = try await Stage(rules: open)
            let (scene, files) = (scene(stage), try files(of: stage))
            defer { scene.stubDisconnect() }
            try await stage.open(in: scene)
            let copy = try files.handOut(Data("x".utf8), named: "a.pdf", of: owner)
            let own = try files.handOut(Data("y".utf8), named: "b.pdf", of: .personal)
            scene.stubBackground()
            try await stage.until { files.count == 1 }
            #expect(!FileManager.default.fileExists(atPath: copy.path))
            #expect(FileManager.default.fileExists(atPath: own.path))
            #expect(throws: ProtectionError(.gateClosed, "")) {
                try files.handOut(Data("x".utf8), named: "a.pdf", of: owner)
            }
            #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
                try ProtectedPreview.open(
                    Data("x".utf8), named: "a.pdf", of: owner, by: stage.protection, handedOutBy: files)
            }
            #expect(files.count == 1)
        }

        @Test func `a wipe takes an account's copies away`() async throws {
            let stage = try await Stage(rules: open)
            let (scene, files) = (scene(stage), try files(of: stage))
            defer { scene.stubDisconnect() }
            try await stage.open(in: scene)
            _ = try files.handOut(Data("x".utf8), named: "a.pdf", of: owner)
            stage.protection.context.events.post(.wipeStarted(account: Stage.account, commandID: "c"))
            try await stage.until { files.count == 0 }
        }

        @Test
        func `a copy for which the person has not chosen a place goes with the gate, and is not said to be saved`()
            async throws
        {
            let stage = try await Stage(rules: open)
            let (scene, files) = (scene(stage), try files(of: stage))
            defer { scene.stubDisconnect() }
            try await stage.open(in: scene)
            let place = PickedPlace(files, of: owner) { [presenter] in presenter }
            async let saved = stage.protection.outlets.save(
                Data("x".utf8), named: "a.pdf", of: owner, to: place, at: .other)
            try await stage.until { presenter.presentedViewController != nil }
            #expect(files.count == 1)
            let picker = try #require(presenter.presentedViewController as? UIDocumentPickerViewController)
            scene.stubBackground()
            // The picker is answered in any case, or the test would wait for ever.
            try? await stage.until { files.count == 0 }
            picker.delegate?.documentPicker(picker, didPickDocumentsAt: [stage.folder])
            do {
                _ = try await saved
                Issue.record("it was said to be saved")
            } catch { #expect(error as? ProtectionError == ProtectionError(.gateClosed, "")) }
        }

        @Test func `over another screen, and off the screen, nothing is shown, and who waits is told`() async throws {
            let stage = try await Stage()
            let files = try files(of: stage)
            presenter.present(UIViewController(), animated: false)
            await #expect(throws: ProtectionError(.outletFailed, "")) {
                try await PickedPlace(files, of: .personal) { [presenter] in presenter }
                    .save(Data("x".utf8), named: "a.pdf")
            }
            #expect(files.count == 0)
            presenter.dismiss(animated: false)
            await #expect(throws: ProtectionError(.outletFailed, "")) {
                try await PickedPlace(files, of: .personal) { UIViewController() }
                    .save(Data("x".utf8), named: "a.pdf")
            }
            presenter.present(UIViewController(), animated: false)
            await #expect(throws: ProtectionError(.outletFailed, "")) {
                try await OpenInSheet { [presenter] in presenter }.deliver(
                    SharedItem(owner: nil, senderBundleID: "", name: "n", contents: Data()))
            }
        }

        @Test func `a document is read under the rules at the time it is chosen, and the picker's copy never stays`()
            async throws
        {
            let stage = try await Stage(rules: open)
            func chosen(_ file: URL, _ meanwhile: () -> Void = {}) async throws -> TakenItem? {
                async let opened = stage.protection.openDocument(for: owner) { [presenter] in presenter }
                try await stage.until { presenter.presentedViewController != nil }
                meanwhile()
                let picker = try #require(presenter.presentedViewController as? UIDocumentPickerViewController)
                picker.delegate?.documentPicker(picker, didPickDocumentsAt: [file])
                presenter.dismiss(animated: false)
                return try await opened
            }
            let file = try picked()
            #expect(try await chosen(file)?.contents == Data("We buy Fabrikam.".utf8))
            #expect(!FileManager.default.fileExists(atPath: file.path))
            let unreadable = FileManager.default.temporaryDirectory.appending(path: "picked-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: unreadable, withIntermediateDirectories: false)
            await #expect(throws: ProtectionError(.damagedContent, "")) { try await chosen(unreadable) }
            #expect(!FileManager.default.fileExists(atPath: unreadable.path))
            let late = try picked()
            await #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
                try await chosen(late) { stage.denyEverything() }
            }
            #expect(!FileManager.default.fileExists(atPath: late.path))
        }

        @Test func `a sheet tells its end once, with an activity that was given up, and goes with it`() async throws {
            let stage = try await Stage()
            func given(up isDone: Bool) async throws {
                defer { #expect(presenter.presentedViewController == nil, "there is place for the next screen") }
                let item = SharedItem(owner: nil, senderBundleID: "", name: "n", contents: Data())
                async let delivered: Void = OpenInSheet { [presenter] in presenter }.deliver(item)
                try await stage.until { presenter.presentedViewController != nil }
                let sheet = try #require(presenter.presentedViewController as? UIActivityViewController)
                sheet.completionWithItemsHandler?(.mail, isDone, nil, nil)
                if isDone { presenter.dismiss(animated: false) }
                sheet.completionWithItemsHandler?(nil, false, nil, nil)
                try await delivered
            }
            await #expect(throws: CancellationError.self) { try await given(up: false) }
            try await given(up: true)
            let files = try files(of: stage)
            let copy = try files.handOut(Data("x".utf8), named: "a.pdf", of: .personal)
            let sheet = try ProtectedShareSheet(copy, of: .personal, by: stage.protection) { files.takeBack(copy) }
            presenter.present(sheet, animated: true)
            sheet.completionWithItemsHandler?(.mail, false, nil, nil)
            try await stage.until { files.count == 0 }
            #expect(presenter.presentedViewController == nil)
        }

        @Test func `a sheet that is going already tells its end`() async throws {
            let stage = try await Stage()
            let files = try files(of: stage)
            for activity in [nil, UIActivity.ActivityType.mail] {
                let copy = try files.handOut(Data("x".utf8), named: "a.pdf", of: .personal)
                let sheet = try ProtectedShareSheet(copy, of: .personal, by: stage.protection) { files.takeBack(copy) }
                presenter.present(sheet, animated: true)
                presenter.dismiss(animated: true)
                sheet.completionWithItemsHandler?(activity, false, nil, nil)
                try await stage.until { files.count == 0 && presenter.presentedViewController == nil }
            }
        }

        @Test func `a printer that tells its end twice prints once`() async throws {
            UIPrintInteractionController.shared.stubCalls = 2
            defer { UIPrintInteractionController.shared.stubCalls = 1 }
            try await SystemPrinter().print(Data("x".utf8), title: "t")
        }
    }
}

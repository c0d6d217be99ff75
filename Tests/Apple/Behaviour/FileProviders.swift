import CordonApple
import CordonUIKit
import FileProvider
import Foundation
import Testing
import UIKit

extension AppleAdapters {
    /// What the system asks a file provider extension, and what it is told.
    @Suite @MainActor struct FileProviders {
        private let sealing: [String: JSONValue] = [
            "AppSharingToLevel": 1, "AppSharingFromLevel": 1, "PINEnabled": false,
        ]
        private let owner = Identity.managed(Stage.account)

        /// Works with an account whose gate is open, and with a provider that has a folder for it and one for the person.
        private func whileOpen(_ act: (Stage, NotesProvider) async throws -> Void) async throws {
            let stage = try await Stage(rules: sealing)
            let scene = stage.scene("files \(UUID().uuidString)")
            // The stand-ins have one app: a scene that stayed would be in front for the next test.
            defer { scene.stubDisconnect() }
            async let launched = stage.protection.launch(Stage.account)
            try await stage.passGate(in: scene)
            #expect(await launched.isOpen)
            try await act(stage, try NotesProvider.made(for: stage))
        }

        @Test
        func
            `contents are handed out sealed, the stored file stays as it is, and a personal file stays readable (SDK-EX-04)`()
            async throws
        {
            try await whileOpen { stage, provider in
                let stored = try provider.add("plan", of: owner, contents: "We buy Fabrikam.")
                _ = try provider.add("list", of: .personal, contents: "milk")
                let sealed = try await provider.fetched("plan")
                #expect(stage.protection.files.isSealed(sealed.file))
                #expect(sealed.item.itemIdentifier.rawValue == "plan")
                #expect(try Data(contentsOf: stored) == Data("We buy Fabrikam.".utf8))
                #expect(try Data(contentsOf: await provider.fetched("list").file) == Data("milk".utf8))
                await #expect(throws: NSError.self) { try await provider.fetched("unknown") }
            }
        }

        @Test
        func
            `a sealed file that comes in is opened and kept as the folder's owner's; another owner's folder does not take it (SDK-EX-05)`()
            async throws
        {
            try await whileOpen { _, provider in
                try provider.add("plan", of: owner, contents: "We buy Fabrikam.")
                let sealed = try await provider.fetched("plan").file
                let taken = try await provider.created(Note("copy", of: owner), from: sealed)
                #expect(taken.owner == owner)
                #expect(provider.contents(of: "copy") == Data("We buy Fabrikam.".utf8))
                let refused = await #expect(throws: NSError.self) {
                    try await provider.created(Note("mine", of: .personal), from: sealed)
                }
                #expect(refused?.domain == NSFileProviderErrorDomain)
                #expect(refused?.code == NSFileProviderError.Code.cannotSynchronize.rawValue)
                #expect(refused?.userInfo[NSUnderlyingErrorKey] is ProtectionError)
                #expect(
                    provider.contents(of: "mine") == nil && provider.leftCopies() == 1,
                    "only what was handed out is left")
            }
        }

        @Test func `an item that is moved into another owner's folder is refused and stays where it is (SDK-EX-05)`()
            async throws
        {
            try await whileOpen { _, provider in
                try provider.add("plan", of: owner, contents: "We buy Fabrikam.")
                let moved = Note("plan", of: .personal)
                await #expect(throws: NSError.self) { try await provider.modified(moved, to: nil) }
                #expect(provider.item("plan")?.owner == owner)
                let renamed = Note("plan", of: owner, name: "plan 2")
                #expect(try await provider.modified(renamed, to: nil).filename == "plan 2")
            }
        }

        @Test func `a list shows one owner's items, and an item without an owner is in none (SDK-EX-06)`() async throws
        {
            try await whileOpen { _, provider in
                try provider.add("plan", of: owner, contents: "x")
                try provider.add("list", of: .personal, contents: "y")
                provider.strays = [Stray()]
                #expect(try await provider.listed(NotesProvider.container(of: owner)).names == ["plan"])
                #expect(try await provider.listed(NotesProvider.container(of: .personal)).names == ["list"])
            }
        }

        @Test
        func
            `changes since an anchor are the owner's alone, and what has become another's counts as deleted (SDK-EX-06)`()
            async throws
        {
            try await whileOpen { _, provider in
                try provider.add("plan", of: owner, contents: "x")
                try provider.add("list", of: .personal, contents: "y")
                let container = NotesProvider.container(of: owner)
                let anchor = try #require(await provider.anchor(container))
                let seen = try await provider.changes(container, from: anchor)
                #expect(seen.names == ["plan"] && seen.deleted == ["list", "gone"])
                #expect(seen.anchor == anchor && seen.error == nil)
            }
        }

        @Test
        func
            `an enumerator that tells no changes has no anchor, and asked for changes has the container listed again (SDK-EX-06)`()
            async throws
        {
            try await whileOpen { stage, provider in
                try provider.add("plan", of: owner, contents: "x")
                let stored = try provider.storedEnumerator(for: NotesProvider.container(of: owner))
                let protection = stage.protection
                let lists = ProtectedProviderEnumerator(stored, of: owner, changes: nil, anchor: nil) { protection }
                #expect(await lists.listed().names == ["plan"])
                #expect(await lists.anchor() == nil)
                let seen = await lists.changes(from: NSFileProviderSyncAnchor(Data([1])))
                #expect(seen.names.isEmpty && seen.deleted.isEmpty && seen.anchor == nil)
                #expect(seen.error?.domain == NSFileProviderErrorDomain)
                #expect(seen.error?.code == NSFileProviderError.Code.syncAnchorExpired.rawValue)
            }
        }

        @Test func `an item is its owner's by either name of the account (SDK-EX-06)`() async throws {
            let stage = try await Stage()
            let provider = try NotesProvider.made(for: stage)
            let account = ManagedAccount(
                id: "oid-files", tenant: TenantID("t"), userPrincipalName: "files@contoso.example")
            IdentityContext.learn(account)
            try provider.add("plan", of: .managed("files@contoso.example"), contents: "x")
            let protection = stage.protection
            let stored = try provider.storedEnumerator(for: NotesProvider.container(of: owner))
            let lists = ProtectedProviderEnumerator(stored, of: .managed(account.id)) { protection }
            #expect(await lists.listed().names == ["plan"])
            let anchor = try #require(await lists.anchor())
            #expect(await lists.changes(from: anchor).names == ["plan"])
        }

        @Test
        func
            `while the gate is closed nothing is listed, handed out, taken in or removed, and there is no anchor (SDK-EX-04…06)`()
            async throws
        {
            let stage = try await Stage(rules: sealing)
            let provider = try NotesProvider.made(for: stage)
            try provider.add("plan", of: owner, contents: "x")
            try provider.add("list", of: .personal, contents: "y")
            #expect(!stage.protection.gate.isOpen(for: Stage.account))
            let container = NotesProvider.container(of: owner)
            let anchor = NSFileProviderSyncAnchor(Data([1]))
            let list = try await provider.listed(container)
            let changes = try await provider.changes(container, from: anchor)
            #expect(list.names.isEmpty && changes.names.isEmpty && changes.deleted.isEmpty)
            #expect(await provider.anchor(container) == nil)
            let outside = try provider.outside("z")
            var errors = [list.error, changes.error]
            do { _ = try await provider.fetched("plan") } catch { errors.append(error as NSError) }
            do { _ = try await provider.created(Note("new", of: owner), from: outside) } catch {
                errors.append(error as NSError)
            }
            do { try await provider.removed("plan") } catch { errors.append(error as NSError) }
            #expect(errors.count == 5)
            for error in errors {
                #expect(error?.domain == NSFileProviderErrorDomain)
                #expect(error?.code == NSFileProviderError.Code.notAuthenticated.rawValue)
            }
            #expect(provider.item("plan") != nil && provider.item("new") == nil && provider.leftCopies() == 0)
            #expect(try await provider.listed(NotesProvider.container(of: .personal)).names == ["list"])
        }
    }
}

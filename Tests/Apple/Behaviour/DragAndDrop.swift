import CordonApple
import CordonUIKit
import Foundation
import Testing
import UIKit

@testable import Cordon

extension AppleAdapters {
    /// Text that is dragged and dropped, under the rules of the clipboard as well (T7).
    @Suite @MainActor struct DragAndDrop {
        private let owner = Identity.managed(Stage.account)

        private func rules(clipboard: Int64, exception: Int64 = 0) -> [String: JSONValue] {
            [
                "AppSharingToLevel": 2, "AppSharingFromLevel": 2, "PINEnabled": false,
                "ClipboardSharingLevel": .integer(clipboard), "ClipboardCharacterLengthException": .integer(exception),
            ]
        }

        /// What comes of dropping on a view: whether it may be, and what was taken.
        private func dropped(
            _ session: Session, on receiver: Identity, _ stage: Stage, isTaken: Bool = true, meanwhile: () -> Void = {}
        ) async throws -> (isProposed: Bool, taken: [String]) {
            let taken = Taken()
            let drop = ProtectedDrop(stage.protection, receiver: { receiver }) { data, _ in
                taken.texts.append(String(decoding: data, as: UTF8.self))
            }
            let interaction = UIDropInteraction(delegate: drop)
            let proposal = drop.dropInteraction(interaction, sessionDidUpdate: session)
            #expect(drop.dropInteraction(interaction, canHandle: session) == (proposal.operation == .copy))
            drop.dropInteraction(interaction, performDrop: session)
            meanwhile()
            if isTaken { try await stage.until { !taken.texts.isEmpty } }
            for _ in 0..<50 { await Task.yield() }
            return (proposal.operation == .copy, taken.texts)
        }

        private func text(_ text: String) -> [UIDragItem] {
            let provider = NSItemProvider()
            provider.registerDataRepresentation(forTypeIdentifier: PasteboardCodec.textType, visibility: .all) { load in
                load(Data(text.utf8), nil)
                return nil
            }
            return [UIDragItem(itemProvider: provider)]
        }

        private func whileOpen(_ rules: [String: JSONValue], _ act: (Stage, UIWindowScene) async throws -> Void)
            async throws
        {
            let stage = try await Stage(rules: rules)
            let scene = stage.scene("drag \(UUID().uuidString)")
            defer { scene.stubDisconnect() }
            try await stage.open(in: scene)
            try await act(stage, scene)
        }

        @Test func `what may not be pasted may not be dropped: neither out of the account nor into it`() async throws {
            // 1 is text of managed apps alone, 3 is text for every app.
            try await whileOpen(rules(clipboard: 1)) { stage, _ in
                let local = Session(text("We buy Fabrikam."), from: owner)
                let out = try await dropped(local, on: .personal, stage, isTaken: false)
                #expect(!out.isProposed && out.taken.isEmpty)
                let within = try await dropped(local, on: owner, stage)
                #expect(within.isProposed && within.taken == ["We buy Fabrikam."])
                let outside = try await dropped(Session(text("mine")), on: owner, stage, isTaken: false)
                #expect(!outside.isProposed && outside.taken.isEmpty)
                #expect(try await dropped(Session(text("mine")), on: .personal, stage).taken == ["mine"])
            }
        }

        @Test func `a text that is longer than the clipboard may take is not dropped once its length is known`()
            async throws
        {
            try await whileOpen(rules(clipboard: 1, exception: 4)) { stage, _ in
                let long = try await dropped(
                    Session(text("We buy Fabrikam."), from: owner), on: .personal, stage, isTaken: false)
                #expect(long.isProposed && long.taken.isEmpty)
                #expect(try await dropped(Session(text("Fab."), from: owner), on: .personal, stage).taken == ["Fab."])
            }
        }

        @Test func `rules and gates count when the text has come`() async throws {
            let everyApp = rules(clipboard: 3)
            try await whileOpen(everyApp) { stage, scene in
                let session = Session(text("We buy Fabrikam."), from: owner)
                #expect(try await dropped(session, on: .personal, stage).taken == ["We buy Fabrikam."])
                let late = try await dropped(session, on: .personal, stage, isTaken: false) { scene.stubBackground() }
                #expect(late.isProposed && late.taken.isEmpty)
            }
            try await whileOpen(everyApp) { stage, _ in
                let late = try await dropped(Session(text("mine")), on: owner, stage, isTaken: false) {
                    stage.denyEverything()
                }
                #expect(late.isProposed && late.taken.isEmpty)
            }
        }

        @Test func `a drag gives nothing out once the gate has closed or the rules refuse it`() async throws {
            func given(_ items: [UIDragItem]) -> Data? {
                let seen = Taken()
                _ = items.first?.itemProvider.loadDataRepresentation(forTypeIdentifier: PasteboardCodec.textType) {
                    data, _ in MainActor.assumeIsolated { seen.data = data }
                }
                return seen.data
            }
            for change in [
                { (stage: Stage, scene: UIWindowScene) in scene.stubBackground() },
                { stage, _ in stage.denyEverything() },
            ] {
                try await whileOpen(rules(clipboard: 3)) { stage, scene in
                    let drag = ProtectedDrag(stage.protection, owner: { owner }, text: { "We buy Fabrikam." })
                    let items = drag.dragInteraction(UIDragInteraction(delegate: drag), itemsForBeginning: Session([]))
                    #expect(given(items) == Data("We buy Fabrikam.".utf8))
                    change(stage, scene)
                    #expect(given(items) == nil)
                }
            }
        }
    }
}

@MainActor private final class Taken {
    var texts: [String] = []
    var data: Data?
}

/// A drag and the drop that ends it; within this app where whose text it is is given.
@MainActor private final class Session: UIDragSession, UIDropSession {
    let items: [UIDragItem]
    var localContext: Any?
    let localDragSession: (any UIDragSession)?

    init(_ items: [UIDragItem], from owner: Identity? = nil) {
        self.items = items
        localDragSession = owner.map { owner in
            let drag = Session(items)
            drag.localContext = owner
            return drag
        }
    }
}

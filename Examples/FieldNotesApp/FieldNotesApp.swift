// A whole app, made to be copied from. The regions between `begin` and `end` are all that protection asks of it; `Scripts/apple.sh` counts
// their lines.

import CordonSwiftUI
import Foundation
import SwiftUI
import UIKit

@main
struct FieldNotesApp: App {
    @State private var cordon = ProtectedApp(service: Organisation.service, rootKey: Organisation.rootKey) {
        // begin wipe
        $0.wipeHook = { account in await Notes.shared.forget(account.id) }
        // end wipe
    }

    var body: some Scene {
        WindowGroup {
            AccountList(cordon: cordon)
                // begin scene
                .cordon(cordon)
            // end scene
        }
    }
}

/// What the app's Info.plist or its management would name.
enum Organisation {
    static let service = URL(string: "https://cordon.contoso.example") ?? URL(filePath: "/")
    static let rootKey = "jkvWj3bdbCHZ0RbrbCCkHxgTB8xw2ekGJ1g7l8Bbnm4"
}

/// The accounts, and a way to add one.
struct AccountList: View {
    let cordon: ProtectedApp
    @Environment(\.protection) private var protection
    @State private var message = ""

    var body: some View {
        NavigationStack {
            List {
                ForEach(cordon.accounts) { account in
                    NavigationLink(account.userPrincipalName) {
                        NoteList(owner: .managed(account.id), cordon: cordon)
                            .cordon(account: account.id, in: cordon)
                    }
                }
                NavigationLink("Personal notes") {
                    NoteList(owner: .personal, cordon: cordon).cordon(account: nil, in: cordon)
                }
                Button("Add work account") { Task { await enroll() } }
                Text(message)
            }
            .navigationTitle("Field Notes")
        }
    }

    private func enroll() async {
        // begin enrol
        guard let protection else { return }
        let status = await protection.signInAndEnroll()
        message = status.explanation
        // end enrol
    }
}

/// The notes of one owner.
struct NoteList: View {
    let owner: Identity
    let cordon: ProtectedApp
    @Environment(\.protection) private var protection
    @State private var text = ""
    @State private var message = ""

    var body: some View {
        VStack(alignment: .leading) {
            TextEditor(text: $text)
            HStack {
                Button("Save") { Task { await attempt { try await save() } } }
                Button("Copy") { Task { await attempt { try await copy() } } }
                PermitButton("Print", for: .may(.print, of: owner)) { box in
                    Task { await attempt { try await print(with: box) } }
                } refused: {
                    message = $0.denial?.summary ?? $0.reason
                }
                Button("Remove account", role: .destructive) { Task { await attempt { try await wipe() } } }
                    .disabled(owner.account == nil)
            }
            Text(message)
        }
        .task { await attempt { text = try await load() } }
    }

    private func save() async throws {
        guard let protection, let account = owner.account else { return Notes.shared.keep(text) }
        // begin protect
        try await protection.files.write(Data(text.utf8), as: "note.txt", of: account)
        // end protect
    }

    private func load() async throws -> String {
        guard let protection, let account = owner.account else { return Notes.shared.text }
        return String(decoding: try await protection.files.read("note.txt", of: account), as: UTF8.self)
    }

    private func copy() async throws {
        guard let protection else { return }
        // begin ask
        try await protection.outlets.copy(text, of: owner, to: PasteboardClipboard())
        // end ask
    }

    private func print(with box: PermitBox) async throws {
        guard let protection else { return }
        try await protection.outlets.print(
            Data(text.utf8), title: "Note", of: owner, on: SystemPrinter(), permit: try box.take())
    }

    private func wipe() async throws {
        guard let protection, let account = owner.account else { return }
        try await protection.wipe(account)
    }

    /// Shows what was refused, and what would be allowed.
    private func attempt(_ act: () async throws -> Void) async {
        message = ""
        do { try await act() } catch let error as ProtectionError {
            message = error.denial?.summary ?? error.reason
        } catch {
            message = "That did not work."
        }
    }
}

/// The app's own notes: what it keeps itself, and forgets when Cordon says so.
@MainActor final class Notes {
    static let shared = Notes()
    private(set) var text = ""

    func keep(_ text: String) { self.text = text }

    /// Removes what the app itself has of an account; Cordon's files are gone already.
    func forget(_ account: AccountID) -> AppWipeOutcome { .removed }
}

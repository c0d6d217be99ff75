import Cordon
import CordonIdentity
import CordonPolicy
import Foundation

/// Every way out asks first and takes the permit that the answer gives; every way in asks too.
extension NotesApp {
    func copy(_ title: String) async throws {
        let text = String(decoding: try await notebook.read(title), as: UTF8.self)
        guard let protection else {
            try await clipboard.write(ClipboardItem(owner: nil, text: text, sealed: nil))
            return screen.answer("copy", "copied")
        }
        let permit = try protection.outlets.copyPermit(for: text, of: current)
        try await protection.outlets.copy(text, of: current, to: clipboard, permit: permit)
        screen.answer("copy", "copied")
    }

    func paste() async throws {
        let text: String
        if let protection {
            text = try await protection.outlets.paste(from: clipboard, for: current)
        } else {
            // An app without Cordon sees what any app sees: plain text, or nothing it could read.
            guard let item = try await clipboard.read() else { throw Problem("the clipboard is empty") }
            guard let plain = item.text else { throw Problem("the clipboard holds nothing that this app can read") }
            text = plain
        }
        screen.answer("paste", .prose(text), ["text": .string(text)])
    }

    func print(_ title: String) async throws {
        let document = try await notebook.read(title)
        guard let protection else {
            try await printer.print(document, title: title)
            return screen.answer("print", "printed")
        }
        let permit = try protection.permit(for: Question(.print, owner: EffectiveIdentity(current)))
        try await protection.outlets.print(document, title: title, of: current, on: printer, permit: permit)
        screen.answer("print", "printed")
    }

    func export(_ title: String, to folder: String) async throws {
        let contents = try await notebook.read(title)
        let place = FolderPlace(folder: URL(filePath: folder))
        guard let protection else {
            try await place.save(contents, named: title)
            return screen.answer("export", "saved")
        }
        var question = Question(.saveTo, owner: EffectiveIdentity(current))
        question.location = .other
        let permit = try protection.permit(for: question)
        try await protection.outlets.save(contents, named: title, of: current, to: place, permit: permit)
        screen.answer("export", "saved")
    }

    func share(_ title: String, with inbox: String) async throws {
        let contents = try await notebook.read(title)
        let app = FolderInbox(folder: URL(filePath: inbox))
        guard let protection else {
            try await app.deliver(
                SharedItem(owner: nil, senderBundleID: "unmanaged", name: title, contents: contents))
            return screen.answer("share", "handed over")
        }
        var question = Question(.send, owner: EffectiveIdentity(current))
        question.peer = Partner.reading(URL(filePath: inbox)).peer(for: current)
        let permit = try protection.permit(for: question)
        try await protection.outlets.send(contents, named: title, of: current, to: app, permit: permit)
        screen.answer("share", "handed over")
    }

    /// Takes what other apps left in this app's inbox, or goes and fetches it from a folder of its own. What is refused, or cannot be
    /// written, stays there for another account or another time, and keeps nothing else out.
    func receive(from folder: String?) async throws {
        var taken: [String] = []
        var failures: [any Error] = []
        for (file, item) in try FolderInbox(folder: home.appending(path: folder ?? "inbox")).items() {
            do {
                try await take(item)
                try FileManager.default.removeItem(at: file)
                taken.append(item.name)
            } catch { failures.append(error) }
        }
        if taken.isEmpty, let first = failures.first { throw first }
        let left = failures.first.map { "; \(failures.count) left: \(Self.problem($0).message)" } ?? ""
        screen.answer(
            "receive", .line("took \(taken.count)\(left)"),
            ["titles": .array(taken.map { .string($0) }), "left": .integer(Int64(failures.count))])
    }

    private func take(_ item: SharedItem) async throws {
        if let protection {
            var question = Question(.receive, owner: EffectiveIdentity(current))
            question.peer = item.peer
            let decision = protection.decision(for: question)
            guard decision.verdict.permits else { throw ProtectionError(denied: decision) }
        }
        try await notebook.write(item.contents, as: item.name)
    }
}

import Cordon
import CordonIdentity
import CordonPolicy
import Foundation

/// Windows, one of which may show everybody's notes, and work behind the scenes.
extension NotesApp {
    /// Goes to another window; each has its own account on it.
    func show(window name: String) {
        windows[window] = current
        window = name
        current = windows[name] ?? .personal
        screen.answer("window", "\(name): \(currentName)", ["current": .string(currentName)])
    }

    /// A page with the notes of everybody: as soon as an organisation's are among them, the rules hold for the whole page. It
    /// can be printed, copied and saved like any other.
    func everyone(_ way: String?) async throws {
        let everybody = [Identity.personal] + (await protection?.enrolledAccounts ?? []).map { .managed($0.id) }
        let page = try await page(of: everybody)
        guard let protection, let way else {
            let rules = protection?.policy(ofSeveral: everybody)
            return screen.answer("everyone", page, ["text": .string(page), "managed": .bool(rules != nil)])
        }
        let owner = everybody.last ?? .personal
        func question(_ action: Action) -> Question {
            var question = Question(action, owner: EffectiveIdentity(owner))
            question.alsoOpen = everybody.filter { $0 != owner }
            (question.peer, question.characters, question.location) = (.unmanagedApp, page.count, .other)
            return question
        }
        switch way {
        case "print":
            let permit = try protection.permit(for: question(.print))
            try await protection.print(Data(page.utf8), title: "everyone", of: owner, on: printer, permit: permit)
        case "copy":
            let permit = try protection.permit(for: question(.copy))
            try await protection.copy(page, of: owner, to: clipboard, permit: permit)
        case "save":
            let permit = try protection.permit(for: question(.saveTo))
            let place = FolderPlace(folder: home.appending(path: "saved/everyone"))
            try await protection.save(Data(page.utf8), named: "everyone", of: owner, to: place, permit: permit)
        default: throw Problem("this page can be printed, copied and saved", hint: "Type `everyone print`.")
        }
        screen.answer("everyone", "done")
    }

    private func page(of everybody: [Identity]) async throws -> String {
        var lines: [String] = []
        for owner in everybody {
            let notebook = Notebook(owner: owner, protection: protection, home: home)
            for title in try await notebook.titles() {
                lines.append("\(title): \(String(decoding: try await notebook.read(title), as: UTF8.self))")
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Writes notes from tasks of their own, which know whose work they do.
    func writeInBackground(_ count: Int) async throws {
        let (protection, home) = (protection, home)
        try await IdentityContext.with(current) {
            try await withThrowingTaskGroup { group in
                for number in 0..<max(count, 1) {
                    group.addTask {
                        await Task.yield()
                        guard let owner = IdentityContext.currentScope else { throw Problem("the work is nobody's") }
                        try await Notebook(owner: owner, protection: protection, home: home)
                            .write(Data("background \(number)".utf8), as: "background-\(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
        screen.answer("background", "written", ["count": .integer(Int64(count))])
    }
}

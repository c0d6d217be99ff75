import Cordon
import CordonIdentity
import CordonPolicy
import Foundation

/// Windows, one of which may show all owners' notes, and work behind the scenes.
extension NotesApp {
    /// Whose notes the window in front shows; at first the person's own.
    var current: Identity { IdentityContext.windowIdentity(of: window) ?? .personal }

    /// Goes to another window; each has its own account on it.
    func show(window name: String) async {
        window = WindowID(name)
        windows.insert(window)
        IdentityContext.setKeyWindow(window)
        screen.answer("window", "\(name): \(await currentName())", ["current": .string(currentID)])
    }

    /// Has the window in front show an account's notes, once the launch conditions of the account are met; until then it stays as
    /// it is. Why not, if not.
    func turn(to identity: Identity) async -> Problem? {
        heldBack[window] = nil
        guard let protection else { return nil }
        let outcome = await protection.windows.switchIdentity(to: identity, in: window)
        guard !outcome.isSwitched else { return nil }
        if case .managed(let account) = identity { heldBack[window] = account }
        return Problem(outcome.reason, hint: "Type `check-in` for newer rules, then `use` again.")
    }

    /// Takes an account's notes off every window, and no longer keeps a line open for it.
    func takeAway(_ account: AccountID) async {
        loseTouch(account)
        heldBack = heldBack.filter { $0.value != account }
        for window in windows where IdentityContext.windowIdentity(of: window) == .managed(account) {
            _ = await protection?.windows.switchIdentity(to: .personal, in: window)
        }
        try? await announceAccounts()
    }

    /// A page with the notes of all owners: as soon as an organisation's are among them, the rules hold for the whole page. It
    /// can be printed, copied and saved like any other.
    func everyone(_ way: String?) async throws {
        let enrolled = await enrolledAccounts().map { Identity.managed($0.id) }
        // On a shared device everyone is the one who is here.
        let owners = shared == nil ? [.personal] + enrolled : [current]
        let page = try await page(of: owners)
        guard let protection, let way else {
            let rules = protection?.rules.policy(ofSeveral: owners)
            return screen.answer("everyone", .prose(page), ["text": .string(page), "managed": .bool(rules != nil)])
        }
        let owner = owners.last ?? .personal
        func question(_ action: Action) -> Question {
            var question = Question(action, owner: EffectiveIdentity(owner))
            question.coVisibleIdentities = owners.filter { $0 != owner }
            (question.peer, question.characters, question.location) = (.unmanagedApp, page.count, .other)
            return question
        }
        switch way {
        case "print":
            let permit = try protection.permit(for: question(.print))
            try await protection.outlets.print(
                Data(page.utf8), title: "everyone", of: owner, on: printer, permit: permit)
        case "copy":
            let permit = try protection.permit(for: question(.copy))
            try await protection.outlets.copy(page, of: owner, to: clipboard, permit: permit)
        case "save":
            let permit = try protection.permit(for: question(.saveTo))
            let place = FolderPlace(folder: home.appending(path: "saved/everyone"))
            try await protection.outlets.save(Data(page.utf8), named: "everyone", of: owner, to: place, permit: permit)
        default: throw Problem("this page can be printed, copied and saved", hint: "Type `everyone print`.")
        }
        screen.answer("everyone", "done")
    }

    private func page(of owners: [Identity]) async throws -> String {
        var lines: [String] = []
        for owner in owners {
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
                for number in 0..<count {
                    group.addTask {
                        await Task.yield()
                        guard let owner = IdentityContext.currentScope else { throw Problem("the work has no owner") }
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

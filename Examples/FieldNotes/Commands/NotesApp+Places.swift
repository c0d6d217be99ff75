import Cordon
import CordonIdentity
import CordonPolicy
import Foundation

/// Places to save to and to open from, windows, and work behind the scenes.
extension NotesApp {
    /// Saves a copy at a place; an organisation's place belongs to the account on the screen.
    func save(_ title: String, at name: String) async throws {
        let place = try location(name)
        let contents = try await notebook.read(title)
        let folder = FolderPlace(folder: home.appending(path: "saved").appending(path: name))
        guard let protection else {
            try await folder.save(contents, named: title)
            return screen.answer("save", "saved")
        }
        let permit = try protection.permit(for: question(.saveTo, at: place))
        try await protection.save(contents, named: title, of: current, to: folder, permit: permit)
        screen.answer("save", "saved")
    }

    /// Opens a file from a place.
    func open(_ path: String, from name: String) async throws {
        if let decision = protection?.decision(for: question(.openFrom, at: try location(name))),
            !decision.verdict.permits
        {
            throw EgressDenied(decision)
        }
        guard let contents = FileManager.default.contents(atPath: path) else { throw Problem("\(path) cannot be read") }
        try await write(contents, as: URL(filePath: path).lastPathComponent, answering: "open")
    }

    private func question(_ action: Action, at place: Location) -> Question {
        var question = Question(action, owner: EffectiveIdentity(current))
        question.location = place
        if place != .other { question.locationAccount = EffectiveIdentity(current).account }
        return question
    }

    private func location(_ name: String) throws -> Location {
        guard let place = Location(rawValue: name) else {
            throw Problem(
                "there is no place called \(name)",
                hint: "Places: \(Location.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return place
    }

    /// Goes to another window; each has its own account on it.
    func show(window name: String) {
        windows[window] = current
        window = name
        current = windows[name] ?? .personal
        screen.answer("window", "\(name): \(currentName)", ["current": .string(currentName)])
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

import Cordon
import CordonIdentity
import CordonPolicy
import Foundation

/// Places to save to and to open from. A place is the one of the account on the screen, unless `of` names another.
extension NotesApp {
    /// Saves a copy at a place.
    func save(_ title: String, at name: String) async throws {
        let question = try await question(.saveTo, at: name)
        let contents = try await notebook.read(title)
        let folder = FolderPlace(folder: home.appending(path: "saved").appending(path: name))
        guard let protection else {
            try await folder.save(contents, named: title)
            return screen.answer("save", "saved")
        }
        let permit = try protection.permit(for: question)
        try await protection.outlets.save(contents, named: title, of: current, to: folder, permit: permit)
        screen.answer("save", "saved")
    }

    /// Opens a file from a place.
    func open(_ path: String, from name: String) async throws {
        let question = try await question(.openFrom, at: name)
        if let decision = protection?.decision(for: question), !decision.verdict.permits {
            throw ProtectionError(denied: decision)
        }
        try await write(try contents(of: path), as: URL(filePath: path).lastPathComponent, answering: "open")
    }

    private func question(_ action: Action, at name: String) async throws -> Question {
        let words = name.split(separator: " ").map(String.init)
        guard let place = words.first.flatMap({ Location(rawValue: $0) }), words.count == 1 || words.count == 3 else {
            throw Problem(
                "there is no place called \(name)",
                hint: "Places: \(Location.allCases.map(\.rawValue).joined(separator: ", ")), and `PLACE of ACCOUNT`.")
        }
        var question = Question(action, owner: EffectiveIdentity(current))
        question.location = place
        if words.count == 3 {
            let known = try? await identity(called: words[2])
            question.locationAccount = known == .personal ? nil : known?.account ?? AccountID(words[2])
        } else if place != .other, !place.belongsToNobody {
            question.locationAccount = EffectiveIdentity(current).account
        }
        return question
    }
}

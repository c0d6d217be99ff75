import Cordon
import CordonPolicy
import Foundation

extension NotesApp {
    /// Opens a link from a person's notes, or what their rules put in its place.
    func browse(_ text: String) async throws {
        guard let link = URL(string: text), link.scheme != nil else {
            throw Problem("\(text) is not a link", hint: "Give one such as https://example.com.")
        }
        let opener = FolderOpener(folder: home.appending(path: "opened"))
        var address = link
        if let protection {
            let permit = try protection.outlets.linkPermit(for: link, of: current)
            address = try await protection.outlets.openLink(link, of: current, with: opener, permit: permit)
        } else {
            try await opener.open(link)
        }
        screen.answer(
            "browse", "opened \(address.absoluteString)", ["address": .string(address.absoluteString)])
    }
}

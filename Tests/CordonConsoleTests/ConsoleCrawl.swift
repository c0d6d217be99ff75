import CordonBase
import Foundation
import HTTPTypes
import Testing

/// The console's pages and forms, as its sources declare them and as a browser finds them by following links.
struct ConsoleCrawl: Sendable {
    let browser: Browser

    /// What the sources declare: the paths of pages, or of forms that are sent.
    static func routes(_ method: String) throws -> Set<String> {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/CordonConsole")
        var found: Set<String> = []
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(
                of: try Regex("table\\.\(method)\\(\\s*\"([^\"]+)\"", as: (Substring, Substring).self))
            {
                found.insert(String(match.1).replacing(/\\\(\w+\)/, with: ":step"))
            }
        }
        return found
    }

    /// The declared path that an address belongs to; one without keys goes before one with.
    static func pattern(of address: String, among routes: Set<String>) -> String? {
        let names = address.split(separator: "?").first?.split(separator: "/") ?? []
        return routes.filter { route in
            let parts = route.split(separator: "/")
            return parts.count == names.count && zip(parts, names).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
        }.min { $0.count { $0 == ":" } < $1.count { $0 == ":" } }
    }

    /// Follows links from the overview, to one page of each declared path, and of some more than one.
    func pages(of routes: Set<String>, each most: Int = 1) async throws -> [Browser.Shown] {
        var (waiting, seen, counts): ([String], Set<String>, [String: Int]) = (["/console"], [], [:])
        var found: [Browser.Shown] = []
        while !waiting.isEmpty {
            let address = waiting.removeFirst()
            guard let pattern = Self.pattern(of: address, among: routes), counts[pattern, default: 0] < most,
                seen.insert(address).inserted
            else { continue }
            counts[pattern, default: 0] += 1
            let page = try await browser.get(address)
            found.append(page)
            waiting += page.text.matches(of: /href="(\/console[^"]*)"/).map { Browser.unescape($0.1) }
                .filter { !$0.hasPrefix("/console/assets") && !$0.hasPrefix("/console/sign-in") }
        }
        return found
    }

    /// Where the forms of a page go that are sent, and the names of what people fill in there.
    static func forms(of page: Browser.Shown) -> [(action: String, names: [String])] {
        page.text.matches(of: /(?s)<form[^>]*method="post" action="([^"]*)".*?<\/form>/).map { form in
            let fields = form.0.matches(of: /<(?:input id|textarea id)="[^"]*" name="([^"]*)"/)
            return (Browser.unescape(form.1), fields.map { Browser.unescape($0.1) })
        }
    }

    /// What a page says to its reader: the text between its tags, but for times, codes and names that people gave.
    static func texts(of page: Browser.Shown) -> Set<String> {
        let bare = page.text.replacing(/(?s)<(script|style|code|pre|time|header|title)[ >].*?<\/\1>/, with: "<>")
        let between = bare.split(separator: /<[^>]*>/).map(String.init)
        let spoken = bare.matches(of: /(?:aria-label|data-column)="([^"]+)"/).map { String($0.1) }
        return Set((between + spoken).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty })
    }
}

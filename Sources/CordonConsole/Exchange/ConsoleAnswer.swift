import CordonPages
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// What a handler of the console answers.
enum ConsoleAnswer {
    case page(Page, HTTPResponse.Status = .ok)
    /// To a page of the console, after something was done.
    case moved(String)
    case response(Response)

    static func redirect(to address: String) -> Response {
        Response(status: .seeOther, headers: [.location: address, .cacheControl: "no-store"])
    }
}

/// Turns pages into HTML.
struct PageRenderer: Sendable {
    private let library: PageLibrary
    private let openings: [ConsoleLanguage: String]

    /// Nil where a template cannot be read, which is a fault of the program.
    init?() {
        guard let library = try? PageLibrary(ConsoleTemplates.all) else { return nil }
        self.library = library
        openings = Dictionary(
            uniqueKeysWithValues: ConsoleLanguage.allCases.map { language in
                (language, library.render("opening", PageModel(["language": language.rawValue])))
            })
    }

    /// The inner part of a page, for one that is shown already.
    func part(_ page: Page, for visit: ConsoleVisit) -> String {
        library.render("main", model(page, for: visit, in: visit.language, path: nil))
    }

    static let mediaType = "text/html; charset=utf-8"

    /// How every page in a language begins, before its title: what the browser has to load besides it.
    func opening(in language: ConsoleLanguage) -> String { openings[language] ?? "" }

    /// The headers of every page.
    var pageHeaders: HTTPFields { headers(Self.mediaType, caches: false) }

    func response(
        _ page: Page, _ status: HTTPResponse.Status, for visit: ConsoleVisit?, in language: ConsoleLanguage,
        path: String
    ) -> Response {
        let rest = library.render("page", model(page, for: visit, in: language, path: path))
        return Response(
            status: status, headers: pageHeaders,
            body: ResponseBody(byteBuffer: ByteBuffer(string: opening(in: language) + rest)))
    }

    /// A file that pages load.
    func file(_ text: String, _ mediaType: String) -> Response {
        Response(
            status: .ok, headers: headers(mediaType, caches: true),
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private func headers(_ mediaType: String, caches: Bool) -> HTTPFields {
        [
            .contentType: mediaType, .cacheControl: caches ? "no-cache" : "no-store",
            .contentSecurityPolicy:
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
                + "base-uri 'none'; frame-ancestors 'none'; form-action 'self'", .xContentTypeOptions: "nosniff",
            .xFrameOptions: "DENY", .crossOriginOpenerPolicy: "same-origin",
            // Not no-referrer: with that, browsers send "Origin: null" with our own forms.
            .referrerPolicy: "same-origin",
        ]
    }

    private func model(
        _ page: Page, for visit: ConsoleVisit?, in language: ConsoleLanguage, path: String?
    ) -> PageModel {
        let rendering = Rendering(language: language, csrf: visit?.session.csrf ?? "none")
        let say = rendering.say
        let menu = visit.map { visit in
            PageModel([
                "name": say("Console"),
                "all": ConsoleArea.allCases.filter(visit.sees).map { area in
                    PageModel(["href": area.path, "text": say(area.title), "current": area == page.area])
                },
            ])
        }
        let caller = visit.map { visit in
            PageModel([
                "name": VisibleText.of(visit.name), "roles": say(visit.roles), "leave": say("Sign out"),
                "languages": ConsoleLanguage.allCases.filter { $0 != language }.map { other in
                    PageModel(["code": other.rawValue, "name": other.name, "page": path ?? ""])
                },
            ])
        }
        // The answer to a form has no address at which it could be asked for again.
        let live = page.isLive ? path.flatMap { $0.isEmpty ? nil : "/console/live?page=" + ConsolePath.part($0) } : nil
        return PageModel([
            "skip": say("Skip to the page"),
            "stale": live.map { _ in say("This page does not change by itself any more. Load it again.") },
            "title": say(page.title),
            "lead": say(page.lead), "above": page.above?.html(rendering), "menu": menu, "caller": caller,
            "blocks": HTML(page.blocks.map { $0.html(rendering) }), "csrf": rendering.csrf,
            "live": live,
        ])
    }
}

extension HTTPField.Name {
    static let xFrameOptions = Self("X-Frame-Options") ?? .via
    static let referrerPolicy = Self("Referrer-Policy") ?? .via
    static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy") ?? .via
}

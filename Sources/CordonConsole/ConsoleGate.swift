import CordonBase
import CordonPolicy
import CordonServiceHTTP
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Lets requests of people who are signed in through to their pages, and keeps what was typed for those who must sign in again.
struct ConsoleGate: Sendable {
    let routes: ConsoleRoutes
    let renderer: PageRenderer

    private var parts: ServerExtension.Parts { routes.parts }
    private var keeper: SessionKeeper { routes.keeper }

    /// Answers what needs no session.
    func open(
        _ request: Request, _ context: ServiceRequestContext, _ body: () async throws -> Response
    ) async -> Response {
        do {
            return try await body()
        } catch {
            return failed(error, request, nil)
        }
    }

    /// Answers a request with a session; a browser without one is sent to sign in and comes back.
    func answer(
        _ request: Request, _ context: ServiceRequestContext, keys: [String], _ handler: @escaping ConsoleRoutes.Handler
    ) async -> Response {
        guard request.method == .get else { return await answer(request, context, keys: keys, nil, handler) }
        let found: SessionKeeper.Held?
        do { found = try await keeper.session(of: request) } catch { return failed(error, request, nil) }
        guard let held = found else { return await toSignIn(request) }
        let language = language(of: request, held.session)
        let start = PageStart()
        return await start.answer(renderer.opening(in: language), renderer.pageHeaders) {
            let response = await answer(request, context, keys: keys, start, held: held, handler)
            guard start.hasBegun, response.headers[.contentType] != PageRenderer.mediaType else { return response }
            // The token ended, or was taken back, while the page was read.
            let next = response.headers[.location] ?? ConsoleConfiguration.path
            return renderer.response(
                Page("Something changed in the meantime", .overview, [.links([Link("Go on", next, isMain: true)])]),
                .ok, for: nil, in: language, path: "")
        }
    }

    /// - Parameters:
    ///   - start: Where a page says that it will be one.
    ///   - known: The session, where it was looked for already.
    private func answer(
        _ request: Request, _ context: ServiceRequestContext, keys: [String], _ start: PageStart?,
        held known: SessionKeeper.Held? = nil, _ handler: ConsoleRoutes.Handler
    ) async -> Response {
        var visit: ConsoleVisit?
        var held: SessionKeeper.Held?
        var form = ConsoleForm()
        do {
            let found = if let known { known } else { try await keeper.session(of: request) }
            guard let session = found else { return await toSignIn(request) }
            held = session
            if request.method == .post { form = try await sent(request, by: session.session) }
            guard keeper.isActive(session.session) else {
                return await toSignIn(request, keeping: form, of: session)
            }
            let entered = try await self.visit(request, context, session.session, form, keys: keys, start)
            visit = entered
            var answer = try await handler(entered)
            switch answer {
            case .page(var page, let status) where entered.draft != nil:
                if let draft = Self.draft(for: request, of: session.session) {
                    try? await forgetDraft(at: draft.path, of: session)
                }
                page.blocks.insert(Self.filledInAgain, at: 0)
                // What is saved would take the place of what is filled in.
                page.isLive = false
                answer = .page(page, status)
            // What was done is done, and is answered so, whether or not the form can be kept or forgotten.
            case .page where request.method == .post: _ = try? await keep(form, request, of: session)
            case .moved where request.method == .post:
                try? await forgetDraft(at: Self.page(form, request), of: session)
            default: break
            }
            return respond(answer, to: request, entered)
        } catch let refusal as Refusal where refusal.wantsFreshSignIn {
            guard let held, let visit else { return failed(refusal, request, visit) }
            return await stepUp(request, keeping: form, of: held, visit)
        } catch let refusal as Refusal where refusal.headers[.waiting] != nil {
            // The same form is sent once more when the change is released.
            let change = refusal.headers[.waiting] ?? ""
            if let held { _ = try? await keep(form, request, of: held, waitingFor: change) }
            return ConsoleAnswer.redirect(to: ApprovalPages.path(change))
        } catch let refusal as Refusal where refusal.status == .unauthorized {
            return await toSignIn(request, keeping: form, of: held)
        } catch {
            var page: String?
            if let held, form.has("page"), (error as? Refusal)?.status != .notFound {
                page = try? await keep(form, request, of: held)
            }
            return failed(error, request, visit, form: page)
        }
    }

    func signOut(_ request: Request, _ context: ServiceRequestContext) async -> Response {
        await open(request, context) {
            // A form from elsewhere comes without the cookie, and the answer takes the cookie away.
            try requireOwnPage(request)
            if let held = try await keeper.session(of: request) {
                _ = try await sent(request, by: held.session)
                try await keeper.end(held)
            }
            var response = renderer.response(
                Page(
                    "Signed out", .overview,
                    lead:
                        "You are signed out of the console. The identity provider may still know you in this browser.",
                    // The provider is asked to let the person choose, since it may be another one who comes next.
                    [.links([Link("Sign in", "/console/sign-in?fresh=1", isMain: true)])]), .ok, for: nil,
                in: language(of: request), path: "")
            response.headers[values: .setCookie] = [routes.cookies.removing(.session)]
            return response
        }
    }

    /// Takes down the language that the person chose, and shows the page again.
    func setLanguage(_ request: Request, _ context: ServiceRequestContext) async -> Response {
        await open(request, context) {
            guard let held = try await keeper.session(of: request) else { return await toSignIn(request) }
            let form = try await sent(request, by: held.session)
            let language = ConsoleLanguage(rawValue: form["language"])?.rawValue
            guard try await keeper.change(held, { $0.language = language }) else { return await toSignIn(request) }
            return ConsoleAnswer.redirect(to: ConsolePath.inside(form["page"]))
        }
    }

    /// The language that the person chose, else the one that the browser asks for.
    private func language(of request: Request, _ session: ConsoleSession? = nil) -> ConsoleLanguage {
        session?.language.flatMap(ConsoleLanguage.init(rawValue:))
            ?? ConsoleLanguage(accepting: request.headers[.acceptLanguage])
    }

    /// Sends a page again whenever it looks otherwise, until the session ends.
    func live(_ request: Request, _ context: ServiceRequestContext, _ pages: LivePages) async -> Response {
        let path = request.uri.queryParameters["page"].map { ConsolePath.inside(String($0)) } ?? ""
        let parted = path.split(separator: "?", maxSplits: 1)
        guard let held = try? await keeper.session(of: request), keeper.isActive(held.session),
            let (handler, keys) = pages.page(at: parted.first.map(String.init) ?? "")
        else { return Response(status: .noContent) }
        let query = ConsoleForm(parted.count > 1 ? String(parted[1]) : "") ?? ConsoleForm()
        return LiveStream(
            gate: self, held: held, handler: handler, keys: keys, query: query,
            language: language(of: request, held.session), pages: pages
        ).response(context)
    }

    /// The inner part of a page as it is now; nil where there is nothing to show any more, or not to this person.
    ///
    /// - Throws: What may pass, such as that the service is busy.
    func part(
        _ handler: ConsoleRoutes.Handler, _ held: SessionKeeper.Held, keys: [String], query: ConsoleForm,
        in language: ConsoleLanguage, _ context: ServiceRequestContext
    ) async throws -> String? {
        let session = held.session
        do {
            let api = try ConsoleAPI(parts: parts, session: session, context: context)
            let visit = ConsoleVisit(
                api: api, session: session, me: try await api.get("/admin/v1/me"), query: query, form: ConsoleForm(),
                draft: nil, keys: keys, language: language, now: parts.now(), start: nil)
            guard case .page(let page, _) = try await handler(visit) else { return nil }
            return renderer.part(page, for: visit)
        } catch let refusal as Refusal where refusal.status.kind == .clientError && refusal.status != .tooManyRequests {
            return nil
        }
    }

    // MARK: The request

    private func visit(
        _ request: Request, _ context: ServiceRequestContext, _ session: ConsoleSession, _ form: ConsoleForm,
        keys: [String], _ start: PageStart?
    ) async throws -> ConsoleVisit {
        let api = try ConsoleAPI(parts: parts, session: session, context: context)
        let draft = Self.draft(for: request, of: session)
        let me = try await api.get("/admin/v1/me")
        context.notes.noteKnown()
        return ConsoleVisit(
            api: api, session: session, me: me,
            query: ConsoleForm(request.uri.query ?? "") ?? ConsoleForm(), form: form,
            draft: draft.map { ConsoleForm($0.values) }, keys: keys,
            language: language(of: request, session), now: parts.now(), start: start)
    }

    /// The form that is kept for the page that is asked for.
    private static func draft(for request: Request, of session: ConsoleSession) -> ConsoleSession.Draft? {
        request.method == .get ? session.drafts.first { $0.belongs(to: request.uri.string) } : nil
    }

    /// What was sent, once it is sure that a page of this session sent it.
    private func sent(_ request: Request, by session: ConsoleSession) async throws -> ConsoleForm {
        try requireOwnPage(request)
        guard request.headers[.contentType]?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false else {
            throw Refusal(.unsupportedMediaType, "form", "The console takes forms.")
        }
        guard let bytes = try? await request.body.collect(upTo: ConsoleForm.largest) else {
            throw Refusal(.contentTooLarge, "form", "The form is too large.")
        }
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self), let form = ConsoleForm(text) else {
            throw Refusal(.badRequest, "form", "This is not a form that the console can read.")
        }
        guard SealedText.isSame(form["csrf"], session.csrf) else { throw Self.foreign }
        return form
    }

    private static let foreign = Refusal(
        .forbidden, "foreign-form", "This form was not sent from a page of your session.",
        detail: "Nothing was changed. Open the page again, and send it from there.")

    /// Refuses what a page of another origin sent, as far as the browser says where it was.
    private func requireOwnPage(_ request: Request) throws {
        let (origins, own) = (request.headers[values: .origin], WebOrigin(parts.base))
        guard origins.isEmpty || origins.count == 1 && own != nil && WebOrigin(origins[0]) == own,
            ["same-origin", nil].contains(request.headers[.secFetchSite])
        else { throw Self.foreign }
    }

    // MARK: Signing in again

    /// Sends a browser to sign in, from where it comes back to the page that it asked for.
    ///
    /// What sent a form is not sent there at once: browsers would take that for a form that goes to the provider.
    private func toSignIn(
        _ request: Request, keeping form: ConsoleForm = ConsoleForm(), of held: SessionKeeper.Held? = nil
    ) async -> Response {
        guard request.method == .post else {
            let next = ConsolePath.inside(request.uri.string)
            return ConsoleAnswer.redirect(to: ConsolePath.signIn(next))
        }
        var next: String?
        if let held { next = try? await keep(form, request, of: held) }
        let page = Page(
            "Your session has ended", .overview,
            lead: next == nil
                ? "Nothing was done, and what you filled in is not kept. Sign in, and fill it in again."
                : "What you filled in is kept for you. Nothing was done yet: sign in, look at it again, and send it.",
            [
                .links([
                    Link("Sign in", ConsolePath.signIn(next ?? ConsoleConfiguration.path), isMain: true)
                ])
            ])
        return renderer.response(page, .ok, for: nil, in: language(of: request, held?.session), path: "")
    }

    private func stepUp(
        _ request: Request, keeping form: ConsoleForm, of held: SessionKeeper.Held, _ visit: ConsoleVisit
    ) async -> Response {
        do {
            guard let next = try await keep(form, request, of: held) else { return await toSignIn(request) }
            let seconds = visit.me["stepUpSeconds"]?.integer.map { Int($0) } ?? 900
            let page = Page(
                "Prove that it is you", .overview,
                lead: """
                    What you are about to do cannot be undone, so the service asks for a sign-in within the last \
                    \(seconds / 60) minutes. What you filled in is kept. Nothing was done yet.
                    """,
                [
                    .links([
                        Link("Sign in again", ConsolePath.signIn(next, isFresh: true), isMain: true),
                        Link("Do not do it", next),
                    ])
                ])
            return renderer.response(page, .ok, for: visit, in: visit.language, path: "")
        } catch {
            return failed(error, request, visit)
        }
    }

    /// Keeps what was filled in for the page that shows the form; its path, nil where the session was ended meanwhile. Of a button
    /// alone there is nothing to keep.
    ///
    /// - Parameter change: The id of the change that waits because of the form.
    private func keep(
        _ form: ConsoleForm, _ request: Request, of held: SessionKeeper.Held, waitingFor change: String? = nil
    ) async throws -> String? {
        let page = Self.page(form, request)
        let values = form.values.filter { !["csrf", "page"].contains($0.key) }
        guard !values.isEmpty || change != nil else { return page }
        let draft = ConsoleSession.Draft(path: page, values: values, change: change)
        return try await keeper.change(held) { $0.keep(draft) } ? page : nil
    }

    /// The page that shows a form.
    private static func page(_ form: ConsoleForm, _ request: Request) -> String {
        ConsolePath.inside(form["page"].isEmpty ? request.uri.path : form["page"])
    }

    private static let filledInAgain = Block.note(
        .notice, "What you filled in before is here again; it is not saved.",
        ["Reload the page to start from what is saved."])

    private func forgetDraft(at path: String, of held: SessionKeeper.Held) async throws {
        guard held.session.drafts.contains(where: { $0.path == path }) else { return }
        _ = try await keeper.change(held) { $0.forgetDraft(of: path) }
    }

    // MARK: Answers

    private func respond(_ answer: ConsoleAnswer, to request: Request, _ visit: ConsoleVisit) -> Response {
        switch answer {
        case .page(let page, let status):
            renderer.response(
                page, status, for: visit, in: visit.language, path: request.method == .get ? request.uri.string : "")
        case .moved(let path): ConsoleAnswer.redirect(to: path)
        case .response(let response): response
        }
    }

    /// What is said of what is no refusal.
    static let unavailable = Refusal(
        .serviceUnavailable, "unavailable", "The service cannot do this at the moment.",
        detail: "Try again in a minute. If it stays so, look at the service's log.")

    /// - Parameter form: The page that has what was sent again, nil where nothing was kept.
    private func failed(
        _ error: any Error, _ request: Request, _ visit: ConsoleVisit?, form: String? = nil
    ) -> Response {
        let refusal = error as? Refusal ?? Self.unavailable
        let title: Phrase =
            switch refusal.status {
            case .forbidden: "You may not do this"
            case .notFound: "There is nothing here"
            case .preconditionFailed, .conflict: "Something changed in the meantime"
            default: "This did not work"
            }
        var blocks: [Block] = [
            .note(.bad, .sentence(refusal.message), refusal.details.map { "\($0.target): \(.said($0.message))" })
        ]
        if let detail = refusal.detail { blocks.append(.text(.said(detail))) }
        if refusal.status == .forbidden, let visit {
            blocks.append(
                .text(
                    visit.roles.isEmpty
                        ? "You have no role. Ask an owner for one that includes this."
                        : "Your roles: \(visit.roles). Ask an owner for a role that includes this."))
        }
        let signIn = refusal.headers[.location] ?? ConsolePath.signIn(ConsoleConfiguration.path)
        blocks.append(
            .links(
                (form.map { [Link("Open the form", $0, isMain: true)] } ?? [])
                    + [
                        visit == nil
                            ? Link("Sign in", signIn, isMain: form == nil)
                            : Link("Overview", "/console")
                    ]))
        let status = refusal.status.code < 400 ? HTTPResponse.Status.badRequest : refusal.status
        // A browser that is asked for credentials by status 401 has none that would help.
        return renderer.response(
            Page(title, .overview, blocks), status == .unauthorized ? .forbidden : status, for: visit,
            in: visit?.language ?? language(of: request), path: "")
    }
}

extension HTTPField.Name {
    static let secFetchSite = Self("Sec-Fetch-Site") ?? .via
}

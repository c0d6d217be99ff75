import CordonBase
import CordonPolicy
import CordonProtocol
import CordonServiceHTTP
import Crypto
import Foundation
import HTTPTypes
import Hummingbird

/// Signs administrators in at the provider: authorization code with PKCE (RFC 7636), and a token bound to a key of the session
/// where the provider can (RFC 9449).
struct ConsoleSignIn: Sendable {
    let parts: ServerExtension.Parts
    let configuration: ConsoleConfiguration
    let keeper: SessionKeeper
    let cookies: ConsoleCookies
    /// Seals sign-ins under way; new at every start.
    private let key = SymmetricKey(size: .bits256)
    private let answered = AnsweredSignIns()
    private static let purpose = "cordon console sign-in"

    init(
        parts: ServerExtension.Parts, configuration: ConsoleConfiguration, keeper: SessionKeeper,
        cookies: ConsoleCookies
    ) {
        self.parts = parts
        self.configuration = configuration
        self.keeper = keeper
        self.cookies = cookies
    }

    private var returnAddress: String { parts.base + ConsoleConfiguration.returnPath }
    private var resource: String? { configuration.scopes.contains { $0.contains("://") } ? nil : parts.audience }

    /// Sends the browser to the provider: `next` is the page of the console to come back to, and with `fresh` being 1 the person must
    /// prove again who they are.
    ///
    /// - Throws: ``Refusal``, whose location is where the person tries again.
    func start(_ request: Request) async throws -> Response {
        let wanted = request.uri.queryParameters
        let next = ConsolePath.inside(wanted["next"].map(String.init) ?? "")
        let isFresh = wanted["fresh"] == "1"
        return try await Self.tried(again: ConsolePath.signIn(next, isFresh: isFresh)) {
            try await start(request, next, isFresh: isFresh)
        }
    }

    private func start(_ request: Request, _ next: String, isFresh: Bool) async throws -> Response {
        let provider = try await parts.discovery()
        guard let endpoint = provider["authorization_endpoint"]?.string, var address = URLComponents(string: endpoint)
        else { throw Self.unusable("The identity provider names no address for signing in.") }
        let signer = SoftwareSigningKey()
        let pending = PendingSignIn(
            state: SealedText.random(), verifier: SealedText.random(), key: signer.rawRepresentation,
            next: next, isFresh: isFresh, ends: parts.now().addingTimeInterval(PendingSignIn.lifetime))
        let challenge = Base64URL.encode(Data(SHA256.hash(data: Data(pending.verifier.utf8))))
        var asked: [(key: String, value: String)] = [
            ("response_type", "code"), ("client_id", configuration.clientID), ("redirect_uri", returnAddress),
            ("scope", configuration.scopes.joined(separator: " ")), ("state", pending.state),
            ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        if let resource { asked.append(("resource", resource)) }
        if Self.bindsTokens(provider) { asked.append(("dpop_jkt", signer.publicKey.thumbprint)) }
        if isFresh { asked += [("prompt", "login"), ("max_age", "0")] }
        let query = [address.percentEncodedQuery, FormEncoding.encode(asked)].compactMap(\.self).joined(separator: "&")
        address.percentEncodedQuery = query
        var response = ConsoleAnswer.redirect(to: address.string ?? endpoint)
        let sealed = Base64URL.encode(try SealedText.seal(pending, under: key, for: Self.purpose))
        response.headers[values: .setCookie] =
            cookies.removingSignIns(of: request)
            + [
                cookies.setting(.signIn, sealed, state: pending.state) + "; Max-Age=\(Int(PendingSignIn.lifetime))"
            ]
        return response
    }

    /// Ends a sign-in with what the provider sent back, begins the session and goes on to the page that was asked for.
    ///
    /// - Throws: ``Refusal``, whose location is where the person tries again, as far as it is known what they asked for.
    func finish(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let answer = FormEncoding.unique(request.uri.query ?? "") ?? [:]
        let state = answer["state"] ?? ""
        guard let sealed = cookies.value(.signIn, state: state, of: request).flatMap({ Base64URL.decode($0) }),
            let pending = SealedText.open(PendingSignIn.self, sealed, under: key, for: Self.purpose),
            SealedText.isSame(state, pending.state)
        else { throw Self.unknown }
        return try await Self.tried(again: ConsolePath.signIn(pending.next, isFresh: pending.isFresh)) {
            try await finish(pending, answer, request, context)
        }
    }

    /// - Parameter path: Where a sign-in that fails is tried again, whatever it fails of.
    private static func tried(again path: String, _ body: () async throws -> Response) async throws -> Response {
        do {
            return try await body()
        } catch {
            var refusal = error as? Refusal ?? ConsoleGate.unavailable
            refusal.headers[.location] = path
            throw refusal
        }
    }

    private func finish(
        _ pending: PendingSignIn, _ answer: [String: String], _ request: Request, _ context: ServiceRequestContext
    ) async throws -> Response {
        guard pending.ends > parts.now(), answered.isFirst(of: pending, at: parts.now()) else { throw Self.unknown }
        let provider = try await parts.discovery()
        let saysIssuer = provider["authorization_response_iss_parameter_supported"]?.bool == true
        guard answer["iss"] == provider["issuer"]?.string || (answer["iss"] == nil && !saysIssuer) else {
            throw Self.unusable("The answer comes from another identity provider.")
        }
        guard let code = answer["code"] else {
            throw Refusal(
                .forbidden, "sign-in", "The sign-in was not finished.",
                detail:
                    "The identity provider said: \((answer["error_description"] ?? answer["error"] ?? "nothing").prefix(200))"
            )
        }
        var session = try await token(for: code, of: pending, from: provider, context)
        let me = try await ConsoleAPI(parts: parts, session: session, context: context).get("/admin/v1/me")
        guard let person = me["id"]?.string, me["kind"]?.string == "person" else {
            throw Refusal(.forbidden, "sign-in", "Only people use the console.")
        }
        session.person = person
        // What a person typed is shown to that person alone.
        let old = try await keeper.session(of: request)
        if let old, old.session.person == person {
            session.keepDrafts(of: old.session)
            session.language = old.session.language
            // Pages in other tabs, which were shown by the session of before, may still be sent.
            session.csrf = old.session.csrf
        }
        var response = ConsoleAnswer.redirect(to: pending.next)
        response.headers[values: .setCookie] = [
            try await keeper.begin(session, replacing: old), cookies.removing(.signIn, state: pending.state),
        ]
        return response
    }

    private func token(
        for code: String, of pending: PendingSignIn, from provider: [String: JSONValue],
        _ context: ServiceRequestContext
    ) async throws -> ConsoleSession {
        guard let endpoint = provider["token_endpoint"]?.string, let url = URL(string: endpoint) else {
            throw Self.unusable("The identity provider names no address for tokens.")
        }
        var form: [(key: String, value: String)] = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", returnAddress),
            ("client_id", configuration.clientID), ("code_verifier", pending.verifier),
        ]
        if let resource { form.append(("resource", resource)) }
        if let secret = configuration.clientSecret { form.append(("client_secret", secret)) }
        let signer = try SoftwareSigningKey(rawRepresentation: pending.key)
        let client = TokenEndpoint(parts: parts, context: context)
        let signs = Self.bindsTokens(provider)
        func ask(_ nonce: String?) async throws -> TokenEndpoint.Answer {
            let proof =
                signs
                ? try DPoPProof.make(method: "POST", url: url, nonce: nonce, issued: parts.now(), signer: signer) : nil
            return try await client.post(form, to: url, proof: proof)
        }
        var answer = try await ask(nil)
        if answer.body["error"]?.string == "use_dpop_nonce", let nonce = answer.nonce { answer = try await ask(nonce) }
        guard let token = answer.body["access_token"]?.string else {
            throw Self.unusable(
                "The identity provider gave no token: \((answer.body["error_description"]?.string ?? answer.body["error"]?.string ?? "no reason").prefix(200))"
            )
        }
        let isBound = answer.body["token_type"]?.string?.lowercased() == "dpop"
        let seconds = min(max(answer.body["expires_in"]?.integer ?? 300, 1), 8 * 3_600)
        return ConsoleSession(
            person: "", token: token,
            key: isBound ? pending.key : nil, thumbprint: isBound ? signer.publicKey.thumbprint : nil,
            ends: parts.now().addingTimeInterval(TimeInterval(seconds)), csrf: SealedText.random(), draft: nil)
    }

    private static func bindsTokens(_ provider: [String: JSONValue]) -> Bool {
        provider["dpop_signing_alg_values_supported"]?.array?.contains("ES256") ?? false
    }

    private static let unknown = Refusal(
        .badRequest, "sign-in", "This sign-in is not known here any more.",
        detail: "It took too long, it was ended already, or it began in another browser. Sign in again.")

    private static func unusable(_ detail: String) -> Refusal {
        Refusal(.badGateway, "sign-in", "Signing in does not work at the moment.", detail: detail)
    }
}

/// Pages of the console by their paths.
enum ConsolePath {
    /// The path where it is one of the console, else its first page: an address of elsewhere is never followed.
    static func inside(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
        let isInside = ["/console/", "/console?"].contains { path.hasPrefix($0) } || path == "/console"
        return isPlain && isInside && path.utf8.count <= 2_000 ? path : ConsoleConfiguration.path
    }

    /// Where a person signs in, to come to a page afterwards.
    static func signIn(_ next: String, isFresh: Bool = false) -> String {
        "/console/sign-in?\(isFresh ? "fresh=1&" : "")next=" + part(next)
    }

    /// A part of a path, escaped.
    static func part(_ text: String) -> String { FormEncoding.escape(text) }

    /// A text as a `$filter` of a path has it, in quotes; scalar by scalar, as filters are read.
    static func quoted(_ text: String) -> String {
        part("'" + text.unicodeScalars.map { $0 == "'" ? "''" : String($0) }.joined() + "'")
    }
}

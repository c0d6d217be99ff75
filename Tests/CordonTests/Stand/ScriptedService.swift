import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation
import HTTPTypes

/// A service in this process: real keys and signatures, and answers that a test may spoil.
actor ScriptedService: HTTPTransport {
    nonisolated let root: SoftwareSigningKey
    nonisolated let signing = SoftwareSigningKey()
    nonisolated let account: ManagedAccount

    /// The rules that the next envelope carries.
    var policy: EffectivePolicy?
    /// The commands that the next envelope carries.
    var commands: [Command] = []
    /// Changes the next envelope before it is signed.
    var change: @Sendable (inout PolicyEnvelope) -> Void = { _ in }
    /// Signs the next envelope instead of the service's key.
    var forger: SoftwareSigningKey?
    /// Takes the place of the next envelope's text.
    var spoiled: (@Sendable (String) -> String)?
    /// Answers every request with this status instead.
    var outage: HTTPResponse.Status?
    /// Fails every request without an answer.
    var isUnreachable = false
    /// The scope that the service's description names.
    var scope = "mam.checkin"
    /// What apps have reported.
    private(set) var acknowledgements: [Acknowledgement] = []
    private(set) var unregistered = 0
    /// What apps said when they unregistered.
    private(set) var farewells: [UnenrollmentReport] = []
    /// How compliance stands when it is asked for; nil answers that there is no such route.
    var compliance: ComplianceReport?
    private(set) var remediations: [RemediationRequest] = []
    private(set) var usedProofs: Set<String> = []
    /// The key that the registration was made with.
    private var boundKey: JSONWebKey?
    private var sequence: Int64 = 0
    /// Demands a nonce in proofs.
    var nonce: String?
    /// The service's clock.
    var time: @Sendable () -> Date = { Date() }
    /// Whether a check-in without a token is answered, as that of a disabled account with a wipe is.
    var takesKeyAlone = false
    /// Answers registrations and check-ins with this problem instead.
    var problem: ProblemDetails?
    /// Signs whether the account is disabled, in the refusals that do so.
    var signsRefusals = true
    /// Whether reports of commands are answered as by a service that fails.
    var refusesReports = false
    /// Answers telemetry with this problem instead.
    var telemetryProblem: ProblemDetails?
    /// The access token of the account.
    nonisolated let token: String
    /// Answers every request with these bytes instead.
    var garbage: (status: HTTPResponse.Status, body: String)?
    /// Fails every request so.
    var failure: TransportError?
    /// The status of answers to registrations and check-ins.
    var okStatus = HTTPResponse.Status.ok
    /// Whether an envelope that is in force is not sent again.
    var sparesEnvelopes = false
    /// Whether check-ins are answered with a signed word of it, as by every service but an older one.
    var signsContact = true
    /// Changes an answer to a check-in on its way to the app.
    var changeAnswer: @Sendable (inout CheckInResponse) -> Void = { _ in }
    /// Changes the body of a request on its way here, by the path.
    var changeBody: @Sendable (_ path: String, _ body: Data) -> Data = { $1 }
    /// Whether bodies are compared with the proofs that name them, as by every service but an older one.
    var comparesBodies = true
    /// The body of the request that is being answered.
    private var body = Data()
    /// Changes that word before it is signed.
    var changeContact: @Sendable (inout ContactProof) -> Void = { _ in }
    /// What every answer asks for.
    var interval = 1800
    /// The id of the registration; a change forgets the old one.
    var registration: String
    /// What apps have asked, in order.
    private(set) var asked: [String] = []
    private(set) var checkIns: [CheckInRequest] = []
    private(set) var registered: [RegistrationRequest] = []
    private(set) var telemetry: [Data] = []
    /// The logs that were handed in, by the request's id.
    private(set) var logs: [String: Data] = [:]
    /// How many pieces of logs are taken before the connection breaks; nil takes all.
    var takenPieces: Int?
    /// What is said to be there of logs, instead of what is.
    var statedOffset: String?
    /// The provider that the service names.
    var issuer = "https://service.test/idp"
    /// Which key the service asks for, and what it has apps ask the provider for.
    var proof: ServiceDiscovery.Proof?
    var tokenRequest: ServiceDiscovery.TokenRequest?
    /// The schemes that tokens came with, in order.
    private(set) var schemes: [String] = []
    /// Whether the key set can be had.
    var withholdsKeys = false
    /// What is handed out in place of the key set.
    var keySet: SignedKeySet?
    /// Whether shares for recovery are kept, as by every service but an older one.
    var keepsShares = false
    /// The share that was left last.
    nonisolated let share = Locked<RecoveryShare?>(nil)
    /// The registration that left it; nil gives it to any.
    private var shareOwner: String?
    /// How often it was given out.
    private(set) var releases = 0
    /// Refuses to give a share out.
    var shareProblem: ProblemDetails?
    /// Whether evidence of apps is asked for, and what was shown; each attested key is known from then on.
    var asksForEvidence = false
    private(set) var evidence: [AppEvidence] = []
    private var evidenceKeys: Set<String> = []
    /// Refuses the next evidence.
    var evidenceProblem: ProblemDetails?
    private var current: (digest: String, content: Data)?

    /// Answers for one account.
    init(_ name: String = "a", registration: String = "registration-1", root: SoftwareSigningKey = .init()) {
        self.root = root
        self.registration = registration
        token = HeldSessions.token(of: AccountID("oid-" + name))
        account = ManagedAccount(
            id: AccountID("oid-" + name), tenant: TenantID("tenant-1"),
            userPrincipalName: "worker-\(name)@contoso.example")
    }

    func set(_ change: @Sendable (isolated ScriptedService) -> Void) { change(self) }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        asked.append("\(request.method.rawValue) \(request.path ?? "")")
        if let failure { throw failure }
        if let garbage { return HTTPAnswer(head: HTTPResponse(status: garbage.status), body: Data(garbage.body.utf8)) }
        if isUnreachable { throw TransportError(.unreachable, reason: "no server answers") }
        if let outage { return HTTPAnswer(head: HTTPResponse(status: outage), body: Data()) }
        do {
            self.body = changeBody(request.path ?? "", body ?? Data())
            return try answer(request, body: self.body)
        } catch let refusal as ProblemDetails {
            let body = (try? MessageCoding.encode(refusal)) ?? Data()
            var head = HTTPResponse(status: .init(code: refusal.status))
            if refusal.title == "use_dpop_nonce", let name = HTTPField.Name("DPoP-Nonce") {
                head.headerFields[name] = nonce ?? Self.evidenceNonce
            }
            return HTTPAnswer(head: head, body: body)
        } catch {
            return HTTPAnswer(head: HTTPResponse(status: .internalServerError), body: Data())
        }
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        throw TransportError(.unreachable, reason: "no event stream here")
    }

    private func answer(_ request: HTTPRequest, body: Data) throws -> HTTPAnswer {
        let path = request.path ?? ""
        switch (request.method, path) {
        case (.get, ServiceDiscovery.path): return try ok(discovery())
        case (.get, "/mam/v1/keys"):
            if withholdsKeys { throw ProblemDetails(title: "no keys now", status: 503) }
            if let keySet { return try ok(keySet) }
            return try ok(
                SignedKeySet(
                    [signing.publicKey], validFrom: .distantPast, until: time() + 3600, root: root))
        case (.post, "/mam/v1/registrations"):
            boundKey = try prove(request, token: token)
            if let problem { throw problem }
            let message = try MessageCoding.decode(RegistrationRequest.self, from: body)
            registered.append(message)
            if let former = message.formerRegistrationID, former == shareOwner { shareOwner = registration }
            return try ok(
                RegistrationResult(
                    registrationID: registration, account: account, statusCode: .newPolicies, serviceTime: time(),
                    nextCheckInSeconds: interval, envelope: try envelope(nonce: message.nonce)), okStatus)
        case (.post, let path) where path.hasSuffix("/checkins"):
            let isSignedIn = request.headerFields[.authorization] != nil
            let key = try prove(request, token: isSignedIn ? token : nil)
            guard path == "/mam/v1/registrations/\(registration)/checkins" else {
                throw ProblemDetails(title: "gone", status: 410, code: .registrationGone)
            }
            try checkKey(key)
            let message = try MessageCoding.decode(CheckInRequest.self, from: body)
            if var problem {
                if signsRefusals, problem.code == .notLicensed || problem.code == .authenticationRequired {
                    problem.contact = try contact(with: message, isRefused: true)
                }
                throw problem
            }
            guard isSignedIn || takesKeyAlone else {
                var problem = ProblemDetails(title: "no token", status: 401, code: .authenticationRequired)
                if signsRefusals { problem.contact = try contact(with: message, isRefused: true) }
                throw problem
            }
            checkIns.append(message)
            let isCurrent =
                try sparesEnvelopes && current?.content == content() && commands.isEmpty
                && current?.digest == message.appliedDigest
            var answer = CheckInResponse(
                statusCode: isCurrent ? .policiesUnchanged : .newPolicies, unchanged: isCurrent,
                serviceTime: time(), nextCheckInSeconds: interval,
                envelope: isCurrent ? nil : try envelope(nonce: message.nonce, hasContact: signsContact),
                contact: signsContact ? try contact(with: message) : nil)
            changeAnswer(&answer)
            return try ok(answer, okStatus)
        case (.post, "/mam/v1/registrations/\(registration)/compliance"):
            try prove(request, token: token)
            guard let compliance else { throw ProblemDetails(title: "no such route", status: 404) }
            remediations.append(try MessageCoding.decode(RemediationRequest.self, from: body))
            return try ok(compliance)
        case (_, "/mam/v1/registrations/\(registration)/recovery-share") where keepsShares:
            try checkKey(try prove(request, token: token))
            return try recovery(request.method, body)
        case (.post, "/mam/v1/registrations/\(registration)/evidence") where asksForEvidence:
            let key = try prove(request, token: token)
            return try take(evidence: body, of: key)
        case (.post, "/mam/v1/telemetry"):
            try prove(request, token: token)
            if let telemetryProblem { throw telemetryProblem }
            telemetry.append(body)
            return HTTPAnswer(head: HTTPResponse(status: .accepted), body: Data())
        case (.put, let path) where path.hasPrefix("/mam/v1/registrations/\(registration)/logs/"):
            try prove(request, token: token)
            return try take(body, of: String(path.split(separator: "/").last ?? ""), as: request)
        case (.post, let path) where path.hasSuffix("/acknowledgements"):
            let acknowledgement = try MessageCoding.decode(Acknowledgement.self, from: body)
            // A receipt is evidence by itself; anything else needs a proof.
            if acknowledgement.receipt == nil { try prove(request, token: nil) }
            if refusesReports { throw ProblemDetails(title: "later", status: 503) }
            acknowledgements.append(acknowledgement)
            return HTTPAnswer(head: HTTPResponse(status: .noContent), body: Data())
        case (.delete, "/mam/v1/registrations/\(registration)"):
            try checkKey(try prove(request, token: token))
            unregistered += 1
            if !body.isEmpty { farewells.append(try MessageCoding.decode(UnenrollmentReport.self, from: body)) }
            return HTTPAnswer(head: HTTPResponse(status: .noContent), body: Data())
        default: throw ProblemDetails(title: "no such route", status: 404)
        }
    }

    /// The nonce that evidence is about.
    static let evidenceNonce = "evidence-nonce"

    /// Forgets the keys of evidence, as a service does whose store was put back.
    func forgetEvidenceKeys() { evidenceKeys = [] }

    private func take(evidence body: Data, of key: JSONWebKey) throws -> HTTPAnswer {
        guard !body.isEmpty else { throw ProblemDetails(title: "use_dpop_nonce", status: 400) }
        let shown = try MessageCoding.decode(AppEvidence.self, from: body)
        evidence.append(shown)
        if let problem = evidenceProblem { throw problem }
        let challenge = AppEvidence.challenge(
            registrationID: registration, keyThumbprint: key.thumbprint, nonce: shown.nonce)
        guard shown.nonce == Self.evidenceNonce,
            (shown.attestation ?? shown.assertion).flatMap({ Base64URL.decode($0) })?.suffix(challenge.count)
                == challenge
        else { throw ProblemDetails(type: "urn:cordon:problem:evidence", title: "no evidence", status: 403) }
        if shown.attestation != nil { evidenceKeys.insert(shown.keyID) }
        guard evidenceKeys.contains(shown.keyID) else {
            throw ProblemDetails(type: ProblemDetails.unknownEvidenceKey, title: "unknown", status: 409)
        }
        return try ok(AppEvidenceResult(nextEvidenceSeconds: 86_400))
    }

    private func recovery(_ method: HTTPRequest.Method, _ body: Data) throws -> HTTPAnswer {
        switch method {
        case .put:
            let left = try MessageCoding.decode(RecoveryShare.self, from: body)
            share.withLock { $0 = left }
            shareOwner = registration
        case .delete: share.withLock { $0 = nil }
        default:
            if let shareProblem { throw shareProblem }
            guard let share = share.withLock({ $0 }), shareOwner ?? registration == registration else {
                throw ProblemDetails(title: "nothing was left", status: 404)
            }
            releases += 1
            return try ok(share)
        }
        return HTTPAnswer(head: HTTPResponse(status: .noContent), body: Data())
    }

    private func take(_ piece: Data, of id: String, as request: HTTPRequest) throws -> HTTPAnswer {
        let range = HTTPField.Name("Content-Range").flatMap { request.headerFields[$0] } ?? ""
        let here = logs[id] ?? Data()
        if !piece.isEmpty {
            if takenPieces == 0 { throw ProblemDetails(title: "out of order", status: 503) }
            takenPieces = takenPieces.map { $0 - 1 }
            guard range.hasPrefix("bytes \(here.count)-\(here.count + piece.count - 1)/") else {
                throw ProblemDetails(title: "another place", status: 409)
            }
            logs[id] = here + piece
        }
        var head = HTTPResponse(status: .noContent)
        if let name = HTTPField.Name("Upload-Offset") {
            head.headerFields[name] = statedOffset ?? String(here.count + piece.count)
        }
        return HTTPAnswer(head: head, body: Data())
    }

    private func checkKey(_ key: JSONWebKey) throws {
        guard boundKey.map({ $0.thumbprint == key.thumbprint }) ?? true else {
            throw ProblemDetails(title: "another key", status: 403, code: .notEnrolled)
        }
    }

    @discardableResult
    private func prove(_ request: HTTPRequest, token: String?) throws -> JSONWebKey {
        guard let name = HTTPField.Name("DPoP"), let text = request.headerFields[name],
            let url = URL(string: "https://service.test" + (request.path ?? ""))
        else { throw ProblemDetails(title: "no proof", status: 401) }
        // Whose token it is does not matter here, only that the proof is for it.
        let parts = request.headerFields[.authorization]?.split(separator: " ").map(String.init)
        let sent = parts?.last
        if let scheme = parts?.first { schemes.append(scheme) }
        let proof = try DPoPProof(
            verifying: text, method: request.method.rawValue, url: url, accessToken: token == nil ? nil : sent,
            now: time())
        guard usedProofs.insert(proof.id).inserted else { throw ProblemDetails(title: "replayed", status: 401) }
        guard proof.nonce == nonce else { throw ProblemDetails(title: "use_dpop_nonce", status: 401) }
        guard !comparesBodies || proof.bodyDigest == DPoPProof.bodyDigest(body) else {
            throw ProblemDetails(title: "another body than the proof names", status: 400)
        }
        return proof.key
    }

    private func envelope(nonce: String, hasContact: Bool = false) throws -> String {
        sequence += 1
        var envelope = PolicyEnvelope(
            tenant: account.tenant, registrationID: registration, account: account.id, bundleID: "example.notes",
            sequence: sequence, version: "v\(sequence)", nonce: nonce, issuedAt: Int64(time().timeIntervalSince1970),
            expiresAt: Int64(time().timeIntervalSince1970) + 3600, policy: policy, commands: commands,
            hasContact: hasContact ? true : nil)
        change(&envelope)
        let made = try SignedEnvelope(signing: envelope, with: forger ?? signing).text
        let text = spoiled?(made) ?? made
        current = (SignedEnvelope(text).digest, try content())
        return text
    }

    private func contact(with message: CheckInRequest, isRefused: Bool = false) throws -> String {
        var proof = ContactProof(
            registrationID: registration, nonce: message.nonce,
            clientTime: Int64(message.clientTime.timeIntervalSince1970), issuedAt: Int64(time().timeIntervalSince1970),
            stateGeneration: checkIns.compactMap(\.stateGeneration).max(),
            hasRecoveryShare: keepsShares
                ? message.recoveryShareDigest.map { digest in share.withLock { $0?.digest } == digest } : nil,
            envelopeDigest: current?.digest)
        if isRefused { proof.isAccountDisabled = problem?.type == ProblemDetails.accountDisabled }
        changeContact(&proof)
        return try proof.signed(by: forger ?? signing)
    }

    /// What an envelope would say besides its numbers, to see whether there is news.
    private func content() throws -> Data {
        var envelope = PolicyEnvelope(
            tenant: account.tenant, registrationID: registration, account: account.id, bundleID: "", sequence: 0,
            version: "", nonce: "", issuedAt: 0, expiresAt: 0, policy: policy)
        change(&envelope)
        return try MessageCoding.encode(envelope)
    }

    private func ok(_ message: some Encodable, _ status: HTTPResponse.Status = .ok) throws -> HTTPAnswer {
        HTTPAnswer(head: HTTPResponse(status: status), body: try MessageCoding.encode(message))
    }

    private func discovery() throws -> ServiceDiscovery {
        func url(_ path: String) throws -> URL {
            guard let url = URL(string: "https://service.test" + path) else {
                throw ProblemDetails(title: "", status: 500)
            }
            return url
        }
        guard let issuer = URL(string: issuer) else { throw ProblemDetails(title: "", status: 500) }
        return ServiceDiscovery(
            tenant: account.tenant, issuer: issuer, checkIn: try url("/mam/v1"), resource: "check-in",
            scope: scope, keys: try url("/mam/v1/keys"), versions: [1],
            proof: proof, tokenRequest: tokenRequest)
    }
}

/// The stand throws its refusals.
extension ProblemDetails: Error {}

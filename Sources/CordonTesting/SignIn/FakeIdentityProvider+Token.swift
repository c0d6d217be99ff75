internal import CordonBase
internal import CordonProtocol
internal import CordonSignIn
internal import Crypto
internal import Foundation
internal import HTTPTypes

extension FakeIdentityProvider {
    /// The token endpoint: codes, refresh tokens and device codes, each usable once.
    func token(_ parameters: [String: String], proof: String?, url: URL) -> HTTPAnswer {
        guard parameters["client_id"] == clientID else {
            return Self.refusal("invalid_client", status: .unauthorized)
        }
        let thumbprint: String?
        do {
            thumbprint = try checkedKey(proof, url: url)
        } catch {
            guard error.code == .expired else { return Self.refusal("invalid_dpop_proof") }
            return nonceDemand()
        }
        switch parameters["grant_type"] {
        case "authorization_code": return redeemCode(parameters, thumbprint)
        case "refresh_token": return renew(parameters, thumbprint)
        case "urn:ietf:params:oauth:grant-type:device_code": return pollDevice(parameters, thumbprint)
        default: return Self.refusal("unsupported_grant_type")
        }
    }

    private func nonceDemand() -> HTTPAnswer {
        let answer = Self.refusal("use_dpop_nonce")
        var head = answer.head
        if let name = HTTPField.Name("DPoP-Nonce") { head.headerFields[name] = nonce }
        return HTTPAnswer(head: head, body: answer.body)
    }

    /// The thumbprint of the key that made the proof; an error with code `expired` asks for a nonce.
    private func checkedKey(_ proof: String?, url: URL) throws(ProtocolError) -> String? {
        guard let proof else { return nil }
        let checked = try DPoPProof(verifying: proof, method: "POST", url: url, accessToken: nil, now: now())
        guard proofIDs.insert(checked.id).inserted else { throw ProtocolError(.replayed, "the proof was seen before") }
        if faults.contains(.demandsNonce), checked.nonce != nonce {
            throw ProtocolError(.expired, "the proof lacks the nonce")
        }
        return checked.key.thumbprint
    }

    private func redeemCode(_ parameters: [String: String], _ thumbprint: String?) -> HTTPAnswer {
        guard let code = parameters["code"], var grant = grants[code] else { return Self.refusal("invalid_grant") }
        guard !grant.isUsed else {
            // A code that comes twice was stolen: everything it gave is taken back (RFC 6749 §4.1.2).
            refreshTokens = refreshTokens.filter { $0.value.family != grant.family }
            return Self.refusal("invalid_grant")
        }
        grant.isUsed = true
        grants[code] = grant
        let verifier = Data((parameters["code_verifier"] ?? "").utf8)
        let challenge = Base64URL.encode(SHA256.hash(data: verifier).withUnsafeBytes { Data($0) })
        guard grant.challenge == challenge, grant.redirect == parameters["redirect_uri"],
            grant.keyThumbprint == nil || grant.keyThumbprint == thumbprint
        else { return Self.refusal("invalid_grant") }
        if let refusal = refusalWithoutProtection(grant.person, parameters) { return refusal }
        return issue(grant, parameters, thumbprint, isRenewal: false)
    }

    /// The refusal of a token that only a protected account gets; a refresh token is not spent by it. Whom it is about is said to who
    /// asked for that, as Microsoft's provider does (SDK-EN-30).
    private func refusalWithoutProtection(_ person: FakePerson, _ parameters: [String: String]) -> HTTPAnswer? {
        guard protected.resources.contains(parameters["resource"] ?? ""), !protected.accounts.contains(person.account)
        else { return nil }
        var said: [String: String] = [:]
        if parameters["client_info"] == "1", let id = person.objectID, let tenant = person.tenant,
            let info = try? JSONEncoder().encode(["uid": id, "utid": tenant])
        {
            said = ["client_info": Base64URL.encode(info), "adi": person.userName]
        }
        return Self.refusal("invalid_grant", "protection_policy_required", saying: said)
    }

    private func renew(_ parameters: [String: String], _ thumbprint: String?) -> HTTPAnswer {
        let token = parameters["refresh_token"] ?? ""
        if let family = spent[token] {
            refreshTokens = refreshTokens.filter { $0.value.family != family }
            return Self.refusal("invalid_grant")
        }
        guard var grant = refreshTokens[token], grant.keyThumbprint == nil || grant.keyThumbprint == thumbprint else {
            return Self.refusal("invalid_grant")
        }
        let wanted = Self.words(parameters["scope"])
        guard Set(wanted).isSubset(of: grant.scopes) else { return Self.refusal("invalid_scope") }
        if let refusal = refusalWithoutProtection(grant.person, parameters) { return refusal }
        if !faults.contains(.noRotation) {
            refreshTokens[token] = nil
            spent[token] = grant.family
        }
        if faults.contains(.otherPersonOnRenewal) { grant.person = .otherWorker }
        return issue(grant, parameters, thumbprint, isRenewal: true)
    }

    /// Hands out tokens for a grant.
    func issue(
        _ grant: Grant, _ parameters: [String: String], _ thumbprint: String?, isRenewal: Bool
    ) -> HTTPAnswer {
        var grant = grant
        let asked = Self.words(parameters["scope"])
        let reserved: Set<String> = ["openid", "profile", "offline_access"]
        var scopes = asked.isEmpty ? grant.scopes : asked
        if faults.contains(.declinesScopes) { scopes = scopes.filter { reserved.contains($0) } }
        let bound = faults.contains(.unboundTokens) || faults.contains(.noProofs) ? nil : thumbprint
        let accessToken = accessToken(grant.person, scopes, parameters["resource"], bound)
        var answer: [String: Any] = [
            "access_token": accessToken, "token_type": bound == nil ? "Bearer" : "DPoP",
            "expires_in": accessTokenLifetime, "scope": scopes.joined(separator: " "),
        ]
        if !faults.contains(.noIDToken), !(isRenewal && faults.contains(.noIDTokenOnRenewal)) {
            answer["id_token"] = idToken(grant.person, nonce: isRenewal ? nil : grant.nonce, accessToken: accessToken)
        }
        if !faults.contains(.noRefreshTokens), !(isRenewal && faults.contains(.noRotation)) {
            let refreshToken = "refresh-" + UUID().uuidString
            grant.keyThumbprint = bound
            refreshTokens[refreshToken] = grant
            answer["refresh_token"] = refreshToken
        }
        return Self.json(answer)
    }
}

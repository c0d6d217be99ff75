internal import CordonBase
internal import CordonProtocol
internal import Foundation
internal import HTTPTypes

extension Provider {
    /// Redeems a grant at the token endpoint, with a proof of possession where a signer is given. A code goes to the
    /// endpoint of the metadata that it was asked for with, and to none that came later.
    ///
    /// A server that wants a nonce gets the request once more with it (RFC 9449 §8). A renewal that met a
    /// failing server is tried once more; a code never is, because it can be redeemed only once. Whether the tokens are
    /// bound as asked is the caller's to check: it has to keep, or revoke, the refresh token that came with them.
    ///
    /// - Cancellation: a task that was cancelled before redeems nothing. One that is cancelled meanwhile waits for the answer all the same:
    ///   the provider may have made a refresh token by then, and nobody could revoke one that nobody has read.
    func redeem(
        _ parameters: [String: String], at metadata: ProviderMetadata, grant: OAuthFailure.Grant,
        signer: (any MessageSigner)?, correlationID: UUID?
    ) async throws(SignInError) -> TokenAnswer {
        let url = try ProviderAddress.endpoint(metadata.tokenEndpoint, named: "token_endpoint")
        guard !Task.isCancelled else { throw SignInReturn.stopped }
        var answer = try await postToTheEnd(parameters, to: url, signer, correlationID)
        if grant == .refresh, answer.head.status.kind == .serverError, answer.head.status.code != 503 {
            do { try await environment.sleep(.milliseconds(500)) } catch {
                throw SignInError(.cancelled, .stopped, "the renewal was cancelled")
            }
            answer = try await postToTheEnd(parameters, to: url, signer, correlationID)
        }
        guard answer.head.status == .ok else {
            throw OAuthFailure.error(for: answer, grant: grant, correlationID: correlationID)
        }
        guard let tokens = try? JSONDecoder().decode(TokenAnswer.self, from: answer.body), !tokens.accessToken.isEmpty
        else { throw SignInError(.server, .invalidResponse, "the token endpoint's answer is malformed") }
        return tokens
    }

    /// Posts a form in a task of its own, which no cancellation of the caller's ends.
    private func postToTheEnd(
        _ parameters: [String: String], to url: URL, _ signer: (any MessageSigner)?, _ correlationID: UUID?
    ) async throws(SignInError) -> HTTPAnswer {
        try await Task { await outcome(of: parameters, to: url, signer, correlationID) }.value.get()
    }

    private func outcome(
        of parameters: [String: String], to url: URL, _ signer: (any MessageSigner)?, _ correlationID: UUID?
    ) async -> Result<HTTPAnswer, SignInError> {
        do {
            return .success(try await post(parameters, to: url, signer: signer, correlationID: correlationID))
        } catch {
            return .failure(error)
        }
    }

    /// Posts a form, once more when the server asks for a nonce.
    func post(
        _ parameters: [String: String], to url: URL, signer: (any MessageSigner)?, correlationID: UUID?,
        authorization: String? = nil
    ) async throws(SignInError) -> HTTPAnswer {
        let first = try await postOnce(parameters, to: url, signer, correlationID, authorization)
        guard signer != nil, first.head.status.kind == .clientError,
            (try? JSONDecoder().decode(OAuthFailure.self, from: first.body))?.error == "use_dpop_nonce"
        else { return first }
        return try await postOnce(parameters, to: url, signer, correlationID, authorization)
    }

    private func postOnce(
        _ parameters: [String: String], to url: URL, _ signer: (any MessageSigner)?, _ correlationID: UUID?,
        _ authorization: String?
    ) async throws(SignInError) -> HTTPAnswer {
        var fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
        fields[.authorization] = authorization
        let origin = "\(url.scheme ?? "")://\(url.host() ?? ""):\(url.port ?? 0)"
        if let signer, let name = HTTPField.Name("DPoP") {
            do {
                fields[name] = try DPoPProof.make(
                    method: "POST", url: url, nonce: nonces[origin], issued: environment.now(), signer: signer)
            } catch {
                throw SignInError(.storage, .storeUnavailable, "the device key cannot sign")
            }
        }
        let answer = try await send(
            .post, url, fields: fields, body: Data(FormEncoding.encode(parameters.sorted { $0.key < $1.key }).utf8),
            correlationID: correlationID)
        if let name = HTTPField.Name("DPoP-Nonce"), let nonce = answer.head.headerFields[name],
            nonce.utf8.count <= 1_024
        {
            nonces[origin] = nonce
        }
        return answer
    }
}

internal import CordonProtocol
internal import Foundation
internal import HTTPTypes

extension Provider {
    /// Hands the request to the provider directly and gets a reference for the browser (RFC 9126).
    func push(
        _ parameters: [String: String], at metadata: ProviderMetadata, signer: (any MessageSigner)?, correlationID: UUID
    ) async throws(SignInError) -> String {
        struct Reference: Decodable {
            let address: String
            private enum CodingKeys: String, CodingKey { case address = "request_uri" }
        }
        let url = try ProviderAddress.endpoint(
            metadata.pushedRequestEndpoint, named: "pushed_authorization_request_endpoint")
        let answer = try await post(parameters, to: url, signer: signer, correlationID: correlationID)
        guard answer.head.status == .created || answer.head.status == .ok else {
            throw OAuthFailure.error(for: answer, grant: .none, correlationID: correlationID)
        }
        guard let reference = try? JSONDecoder().decode(Reference.self, from: answer.body),
            !reference.address.isEmpty, reference.address.utf8.count <= 2_048
        else { throw SignInError(.server, .invalidResponse, "the pushed request's answer is malformed") }
        return reference.address
    }
}

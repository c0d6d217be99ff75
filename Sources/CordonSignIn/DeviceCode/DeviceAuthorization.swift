internal import CordonProtocol
internal import Foundation
internal import HTTPTypes

/// A provider's answer to a device authorization request (RFC 8628 §3.2), with bounds on its times.
struct DeviceAuthorization: Sendable {
    let deviceCode: String
    let prompt: DeviceCodePrompt
    let interval: Duration

    private struct Answer: Decodable {
        var device_code: String
        var user_code: String
        var verification_uri: String?
        var verification_url: String?
        var verification_uri_complete: String?
        var expires_in: Double
        var interval: Double?
    }

    /// Reads an answer; codes and times outside of reason are refused.
    init(_ bytes: Data, now: Date) throws(SignInError) {
        guard let answer = try? JSONDecoder().decode(Answer.self, from: bytes), !answer.device_code.isEmpty,
            answer.expires_in.isFinite, answer.expires_in > 0, answer.interval?.isFinite ?? true
        else { throw SignInError(.server, .invalidResponse, "the device authorization's answer is malformed") }
        deviceCode = answer.device_code
        interval = .seconds(Int(min(max(answer.interval ?? 5, 1), 300)))
        let page = try ProviderAddress.checked(
            answer.verification_uri ?? answer.verification_url ?? "", named: "verification_uri")
        let complete = try answer.verification_uri_complete.map { text throws(SignInError) in
            try ProviderAddress.checked(text, named: "verification_uri_complete")
        }
        prompt = try DeviceCodePrompt(
            userCode: answer.user_code, page: page, completePage: complete, expires: now + min(answer.expires_in, 3_600)
        )
    }
}

extension Provider {
    /// Asks for a device code.
    func authorizeDevice(
        _ parameters: [String: String], at metadata: ProviderMetadata, correlationID: UUID
    ) async throws(SignInError) -> DeviceAuthorization {
        let url = try ProviderAddress.endpoint(
            metadata.deviceAuthorizationEndpoint, named: "device_authorization_endpoint")
        let answer = try await post(parameters, to: url, signer: nil, correlationID: correlationID)
        guard answer.head.status == .ok else {
            throw OAuthFailure.error(for: answer, grant: .device, correlationID: correlationID)
        }
        return try DeviceAuthorization(answer.body, now: environment.now())
    }
}

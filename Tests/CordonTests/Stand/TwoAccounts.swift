import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation
import HTTPTypes

/// A service at which two people have accounts, for what must keep them apart; ``ScriptedService`` answers for each.
actor TwoAccounts: HTTPTransport {
    nonisolated let first: ScriptedService
    nonisolated let second: ScriptedService
    /// Who asked last under a token.
    private var isSecondsTurn = false

    init(_ device: Device) {
        first = device.service
        second = ScriptedService("b", registration: "registration-2", root: device.service.root)
    }

    /// Starts the app and enrols both, each under rules of its own.
    func enrolled(
        on device: Device, _ rules: [String: JSONValue], _ others: [String: JSONValue],
        _ change: @Sendable (inout ProtectionConfiguration) -> Void = { _ in }
    ) async throws -> AppProtection {
        try await first.publish(rules)
        try await second.publish(others)
        let protection = try await device.start { @Sendable configuration in
            configuration.transport = self
            change(&configuration)
        }
        for service in [first, second] {
            isSecondsTurn = service === second
            let status = await protection.enroll(service.account)
            guard status == .newPolicies else { throw ProtectionError(.notEnrolled, "status \(status)") }
        }
        return protection
    }

    func send(
        _ request: HTTPRequest, body: Data?, limit: Int, timeout: Duration
    ) async throws(TransportError) -> HTTPAnswer {
        try await service(for: request).send(request, body: body, limit: limit, timeout: timeout)
    }

    func stream(_ request: HTTPRequest, timeout: Duration) async throws(TransportError) -> HTTPAnswerStream {
        try await service(for: request).stream(request, timeout: timeout)
    }

    private func service(for request: HTTPRequest) async -> ScriptedService {
        for service in [first, second] {
            if (request.path ?? "").contains("/registrations/\(await service.registration)") { return service }
        }
        switch request.headerFields[.authorization] {
        case "DPoP \(first.token)": isSecondsTurn = false
        case "DPoP \(second.token)": isSecondsTurn = true
        default: break
        }
        // Who fetches keys has just registered.
        return isSecondsTurn ? second : first
    }
}

import CordonAppTools
import CordonSignIn
import Foundation
import HTTPTypes

/// Asks the hosts of a sign-on profile whether they let its extension answer for them (SI-149).
struct AssociationCheck {
    let transport: any HTTPTransport

    /// What is wrong, host by host.
    func findings(_ profile: PropertyListValue, path: String) async -> [Finding] {
        var findings: [Finding] = []
        for association in SignOnAssociation.wanted(by: profile) {
            findings += association.findings(await ask(association), path: path)
        }
        return findings
    }

    private func ask(_ association: SignOnAssociation) async -> SignOnAssociation.Answer {
        guard let address = association.address else { return .none("no address can have this host") }
        do {
            let answer = try await transport.send(
                HTTPRequest(method: .get, url: address), body: nil, limit: SignOnAssociation.largestFile,
                timeout: .seconds(30))
            return answer.head.status == .ok ? .file(answer.body) : .status(answer.head.status.code)
        } catch {
            return .none(error.reason)
        }
    }
}

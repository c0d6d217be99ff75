import CordonDevelopmentProvider
import CordonProtocol
import CordonServiceHTTP
import Foundation
import Logging

extension EmbeddedProvider {
    /// The provider of a development service.
    ///
    /// - Throws: ``CommandFailure`` with status `writeFailed` when its key file is unusable, `badInput` otherwise.
    init(
        _ plan: ServePlan, _ directory: DevelopmentDirectory, _ clients: [IdentityProviderClient], logger: Logger
    ) throws(CommandFailure) {
        do {
            self.init(
                try DevelopmentIdentityProvider(
                    directory: directory,
                    configuration: .development(
                        checkIn: plan.server.checkInAudience, admin: plan.server.mainAdministrationAudience,
                        additionalClients: clients),
                    signingKey: .file(plan.folder.appending(path: "identity-provider.pem")), logger: logger))
        } catch {
            let ofFile: [ProgramError.Code] = [.fileUnreadable, .fileUnwritable, .fileNotPrivate]
            let failure = CommandFailure(error)
            throw ofFile.contains(error.code)
                ? CommandFailure(.writeFailed, failure.message, hint: failure.hint) : failure
        }
    }

    private init(_ provider: DevelopmentIdentityProvider) {
        self.init(
            path: DevelopmentIdentityProvider.path, routes: DevelopmentIdentityProvider.routes,
            largestBody: DevelopmentIdentityProvider.largestBody,
            start: { await provider.answer(at: $0) },
            answer: { await provider.answer($0, body: $1) },
            answerToken: { await provider.answerToken($0, body: $1, at: $2) },
            endSessions: { await provider.revokeGrants(ofPerson: $0) })
    }
}

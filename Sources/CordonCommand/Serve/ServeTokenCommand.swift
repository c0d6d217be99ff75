import ArgumentParser
import CordonServiceHTTP
import Foundation

/// `cordon serve token`: looks at access tokens with the settings of the service, without starting it.
struct ServeTokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Look at access tokens as the service would.", subcommands: [Explain.self])

    /// `cordon serve token explain`.
    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain", abstract: "Explain why a token would be accepted or not.",
            discussion: """
                Reads one access token from standard input, asks its provider for keys, and prints as JSON what the token says and \
                what speaks against it on either side. A token is a secret while it lives: do not put it on a command line.

                Exit status 0 when a side accepts the token, 1 when neither does.

                Example:
                  cordon serve token explain --config /etc/cordon/service.json < token.txt
                """)

        /// The most bytes that are read.
        private static let largest = 64 << 10

        @OptionGroup var options: ServeOptions

        func run() async throws {
            let plan = try options.plan()
            guard !plan.isDevelopment, !plan.server.issuers.isEmpty else {
                throw CommandFailure(
                    .badInput, "no OpenID provider is configured", hint: "name one with --issuer or in --config")
            }
            do { try plan.server.validate() } catch { throw CommandFailure(error) }
            let bytes = try StandardInput.read(upTo: Self.largest)
            let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty else {
                throw CommandFailure(.badInput, "no token came on standard input", hint: "give it with < token.txt")
            }
            let explanation = await Self.explain(text, with: plan, documents: NetworkIssuerDocuments())
            try Terminal.json(explanation)
            guard explanation.isAccepted else { throw ExitCode(ExitStatus.notInWantedState.rawValue) }
        }

        static func explain(
            _ text: String, with plan: ServePlan, documents: any IssuerDocuments
        ) async -> TokenExplanation {
            let verifier = AccessTokenVerifier(
                rules: plan.server.tokenRules(of: plan.server.issuers), documents: documents)
            // People paste what their tools print.
            let token = text.split(separator: " ").last.map(String.init) ?? text
            return await verifier.explain(token, roleMapping: plan.server.roleMapping)
        }
    }
}

import ArgumentParser
import CordonBase
import CordonHTTPClient
import CordonPolicy
import CordonSignIn
import Foundation
import HTTPTypes

/// Which service a command speaks to, and as whom.
struct ServiceOptions: ParsableArguments {
    @Option(help: "The service's address; by default that in CORDON_SERVICE.")
    var service: String?

    @Option(help: "A file with an access token, - for standard input; by default the token in CORDON_TOKEN.")
    var token: String?

    @Option(help: "Sign in as this program of the OpenID provider, with the secret of --secret-file.")
    var client: String?

    @Option(help: "A file with the program's secret; by default the one in CORDON_CLIENT_SECRET.")
    var secretFile: String?

    @Option(help: "The scope that a program asks for, for providers without resources.")
    var scope: String?

    @Option(help: "The resource that a program asks a token for.")
    var resource = "api://cordon/administration"

    @Option(name: .customLong("ca"), help: "A file of certificate authorities to trust as well, PEM.")
    var authorities: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// What the environment says.
    static let environment = ProcessInfo.processInfo.environment

    /// Runs something with a signed-in client.
    ///
    /// - Throws: ``CommandFailure``: as ``address(_:)``, `badInput` where the service cannot be reached, `refused` where the provider
    ///   gives no token.
    func withClient<Value>(reason: String? = nil, _ body: (ServiceClient) async throws -> Value) async throws -> Value {
        let address = try Self.address(service ?? Self.environment["CORDON_SERVICE"])
        if address.scheme?.lowercased() == "http", !Loopback.includes(address.host ?? "") {
            throw CommandFailure(.refused, "a token is sent by https alone", hint: "Plain http is for loopback.")
        }
        var trust = ServerTrust()
        // Keeping the OpenID provider up to date is not the service's task.
        trust.requiresTLS13 = false
        let transport: AsyncHTTPTransport
        do {
            if let authorities { try trust.add(authoritiesIn: URL(filePath: authorities)) }
            transport = try AsyncHTTPTransport(trust: trust)
        } catch { throw CommandFailure(.badInput, "--ca: \(error.reason)") }
        var client = ServiceClient(address: address, transport: transport, reason: reason)
        do {
            client.token = try await token(with: client)
            let value = try await body(client)
            await transport.shutdown()
            return value
        } catch {
            await transport.shutdown()
            throw error
        }
    }

    /// The address of the service that a text names.
    ///
    /// - Throws: ``CommandFailure`` with status `usage` where nothing is said, and where it is no address.
    static func address(_ text: String?) throws(CommandFailure) -> URL {
        guard let text, !text.isEmpty else {
            throw CommandFailure(
                .usage, "which service is not said", hint: "Give --service https://… or set CORDON_SERVICE.")
        }
        guard let address = URL(string: text), ["http", "https"].contains(address.scheme?.lowercased() ?? ""),
            let host = address.host, !host.isEmpty
        else {
            throw CommandFailure(
                .usage, "\(ShownAddress.quoted(text)) is not the address of a service",
                hint: "Give one such as https://mam.example.org, with --service or in CORDON_SERVICE.")
        }
        // Not repeated: a password may stand in it.
        guard AddressFlaw(of: address) != .malformed, address.query() == nil, address.fragment() == nil else {
            throw CommandFailure(
                .usage, "the service's address is not a plain one",
                hint: "Give a host and at most a port and a path, without a user name or password.")
        }
        return address
    }

    private func token(with service: ServiceClient) async throws -> String {
        if let client { return try await token(ofProgram: client, with: service) }
        let text: String
        if let token {
            text = String(decoding: try PolicyFiles.data(token), as: UTF8.self)
        } else {
            text = Self.environment["CORDON_TOKEN"] ?? ""
        }
        // People keep what their tools print.
        let plain = text.split(whereSeparator: \.isWhitespace).last.map(String.init) ?? ""
        guard !plain.isEmpty, plain.utf8.count <= 64 << 10, plain.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandFailure(
                .usage, "who signs in is not said",
                hint: "Set CORDON_TOKEN, give --token FILE, or --client ID with --secret-file FILE.")
        }
        return plain
    }

    /// A token by client credentials (RFC 6749 §4.4), from the provider that the service trusts.
    private func token(ofProgram client: String, with service: ServiceClient) async throws -> String {
        let secret: String
        if let secretFile {
            guard let text = SecretText.text(of: try PolicyFiles.data(secretFile)) else {
                throw CommandFailure(
                    .badInput, "\(secretFile): is not UTF-8", hint: "Put the secret alone into the file, as text.")
            }
            secret = text
        } else {
            secret = Self.environment["CORDON_CLIENT_SECRET"] ?? ""
        }
        let plain = secret.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !plain.isEmpty else {
            throw CommandFailure(
                .usage, "the secret of \(client) is missing", hint: "Give --secret-file or set CORDON_CLIENT_SECRET.")
        }
        let discovery = try await service.json(.get, "common/v2.0/.well-known/openid-configuration")
        guard let text = discovery["token_endpoint"]?.string, let endpoint = URL(string: text),
            endpoint.scheme == "https" || (endpoint.scheme == "http" && Loopback.includes(endpoint.host ?? ""))
        else { throw CommandFailure(.badInput, "the service names no provider that gives tokens") }
        var form: [(key: String, value: String)] = [
            ("grant_type", "client_credentials"), ("client_id", client), ("client_secret", plain),
        ]
        form.append(scope.map { ("scope", $0) } ?? ("resource", resource))
        let answer = try await service.form(endpoint, form)
        guard let token = answer["access_token"]?.string else {
            let error = answer["error"]?.string ?? "no token"
            throw CommandFailure(
                .refused, "the OpenID provider refused \(client): \(error)",
                hint: answer["error_description"]?.string ?? "Check the secret, and what the program may ask for.")
        }
        return token
    }
}

import ArgumentParser
import CordonBroker
import CordonIdentity
import CordonProtocol
import Crypto
import Foundation

/// `cordon broker policy`: the signed file with a shared device's rules.
struct BrokerPolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Sign and check the rules of shared devices.",
        subcommands: [BrokerPolicySignCommand.self, BrokerPolicyVerifyCommand.self])
}

/// `cordon broker policy sign`: makes the file that a broker runs by.
struct BrokerPolicySignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign a configuration for the shared devices of an organisation.",
        discussion: """
            Prints the signed policy on standard output. Standard error has the thumbprint that brokers must trust, and what \
            in the list of apps deserves a second look: an interpreter, for example, runs whatever script a person gives it.

            Example:
              openssl ecparam -name prime256v1 -genkey -noout -out policy.pem
              cordon broker policy sign --key policy.pem --config broker.json --tenant contoso --policy-version 1 > device.policy
            """)

    @Option(help: "The private key, P-256 in PEM.")
    var key: String

    @Option(help: "The configuration file (docs/broker-protocol.md).")
    var config: String

    @Option(help: "The organisation.")
    var tenant: String

    @Option(help: "The one device it is for; without it, all devices of the organisation.")
    var device: String?

    @Option(help: "A number higher than that of every earlier policy.")
    var policyVersion: Int

    func run() async throws {
        let signer = try Self.signer(key)
        guard let configuration = FileManager.default.contents(atPath: config) else {
            throw CommandFailure(.badInput, "\(config) cannot be read")
        }
        do {
            let policy = try SignedDevicePolicy(
                version: policyVersion, tenant: TenantID(tenant), device: device, configuration: configuration)
            for warning in try BrokerConfiguration(json: configuration, place: config).warnings {
                Terminal.talk(Style.yellow("warning:") + " \(warning)")
            }
            Terminal.data(try policy.signed(by: signer))
        } catch {
            throw CommandFailure(error)
        }
        Terminal.talk("brokers trust it with --trust \(signer.publicKey.thumbprint)")
    }

    private static func signer(_ file: String) throws(CommandFailure) -> SoftwareSigningKey {
        guard let text = FileManager.default.contents(atPath: file).flatMap({ String(data: $0, encoding: .utf8) }),
            let key = try? P256.Signing.PrivateKey(pemRepresentation: text),
            let signer = try? SoftwareSigningKey(rawRepresentation: key.rawRepresentation)
        else {
            throw CommandFailure(
                .badInput, "\(file) holds no P-256 private key in PEM",
                hint: "openssl ecparam -name prime256v1 -genkey -noout makes one.")
        }
        return signer
    }
}

/// `cordon broker policy verify`: whether a broker that trusts the key would run by the file.
struct BrokerPolicyVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a signed policy.",
        discussion: """
            Exit status 3 when it is not valid.

            Example: cordon broker policy verify device.policy --trust THUMBPRINT
            """)

    @Argument(help: "The signed policy.")
    var file: String

    @Option(parsing: .unconditionalSingleValue, help: "The thumbprint of a key that may sign; may repeat.")
    var trust: [String]

    func run() async throws {
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw CommandFailure(.badInput, "\(file) cannot be read")
        }
        do {
            let policy = try SignedDevicePolicy(verifying: bytes, trusting: Set(trust), place: file)
            Terminal.data(
                "version \(policy.version) for \(policy.device ?? "every device") of \(policy.tenant.rawValue)")
        } catch {
            throw CommandFailure(error)
        }
    }
}

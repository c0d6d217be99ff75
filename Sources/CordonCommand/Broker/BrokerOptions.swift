import ArgumentParser
import CordonBroker
import CordonProtocol
import CordonSignIn
import Foundation

#if canImport(CoreFoundation)
    import CoreFoundation
#endif

#if canImport(CDispatch)
    import CDispatch
#endif

/// What `cordon broker run` can be told.
struct BrokerOptions: ParsableArguments {
    @Option(help: "The socket that apps connect to; where systemd hands one over, its path.")
    var socket: String

    @Option(help: "A JSON file with the provider, the apps and the limits (docs/broker-protocol.md).")
    var config: String?

    @Option(help: "A signed policy, in place of --config and --profile (`cordon broker policy sign` makes one).")
    var policy: String?

    @Option(parsing: .unconditionalSingleValue, help: "The thumbprint of a key that may sign policies; may repeat.")
    var trust: [String] = []

    @Option(help: "The MDM's profile with a com.apple.extensiblesso payload.")
    var profile: String?

    @Option(help: "The broker's own folder, closed to every other user.")
    var dataDirectory = "cordon-broker-data"

    @Flag(help: "Serve programs of your own user, in shared mode, with the roles of `cordon serve --development`.")
    var development = false

    @Option(help: "The OpenID provider's issuer; without --config.")
    var issuer: String?

    @Option(help: "The broker's client id at the provider.")
    var clientID: String?

    @Option(name: .customLong("ca"), help: "A PEM file of certificate authorities to trust beside the system's.")
    var authorities: String?

    @Option(help: "The service that keeps a register of shared devices and of who is on them.")
    var service: String?

    @Option(help: "The device's name in that register.")
    var deviceName: String?

    @Option(help: "How often to ask the service whether the device is still registered, in seconds.")
    var reportInterval: Int?

    @Flag(help: "Follow the screen lock through logind (runs gdbus): a lock that lasts --max-idle ends the session.")
    var followSeat = false

    @Option(help: "How many seconds without activity end a session.")
    var maxIdle: Int?

    @Option(help: "How many seconds after the sign-in a session ends.")
    var maxSession: Int?

    @Option(help: "How many seconds apps have to clean up, at most.")
    var cleanUpTime: Int?

    func validate() throws {
        guard config != nil || issuer != nil || policy != nil else {
            throw ValidationError("give --policy with --trust, --config, or --issuer with --development")
        }
        guard policy == nil || (config == nil && profile == nil && issuer == nil && !trust.isEmpty) else {
            throw ValidationError("--policy comes with --trust and without --config, --profile and --issuer")
        }
        // What is signed is the organisation's word; an option of the broker's start must not loosen it.
        let signed: [(String, Bool)] = [
            ("--development", development), ("--service", service != nil), ("--client-id", clientID != nil),
            ("--max-idle", maxIdle != nil), ("--max-session", maxSession != nil),
            ("--clean-up-time", cleanUpTime != nil), ("--report-interval", reportInterval != nil),
        ]
        if policy != nil, let option = signed.first(where: \.1)?.0 {
            throw ValidationError("\(option) is set by the signed policy, and cannot be given as an option too")
        }
        for seconds in [maxIdle, maxSession, cleanUpTime, reportInterval] {
            guard BrokerConfiguration.isAllowed(seconds: seconds ?? 1) else {
                throw ValidationError("a time must be above zero and at most ten years")
            }
        }
    }

    /// A signed policy, from a file that only its owner and the system's administrator can have written.
    private static func read(policy: String, trusting trusted: Set<String>) throws(ProgramError) -> BrokerConfiguration
    {
        // Opened once, so that what is read is the file whose owner was looked at; a pipe must not make this wait.
        let descriptor = open(policy, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        defer { if descriptor >= 0 { close(descriptor) } }
        var facts = stat()
        guard descriptor >= 0, fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw ProgramError(
                .configurationInvalid, reason: "the policy cannot be read", place: policy, hint: "Check the path.")
        }
        guard facts.st_uid == 0 || facts.st_uid == getuid(), facts.st_mode & 0o022 == 0 else {
            throw ProgramError(
                .configurationInvalid, reason: "others can change the policy", place: policy,
                hint: "Give it to root, with mode 0644.")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        guard let bytes = try? handle.read(upToCount: SignedDevicePolicy.largest + 1) else {
            throw ProgramError(
                .configurationInvalid, reason: "the policy cannot be read", place: policy, hint: "Check the path.")
        }
        let signed = try SignedDevicePolicy(verifying: bytes, trusting: trusted, place: policy)
        return try BrokerConfiguration(policy: signed, place: policy)
    }

    /// The configuration in force, and what was found in the profile and not used.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`.
    func plan() throws(CommandFailure) -> (configuration: BrokerConfiguration, remarks: [String]) {
        var configuration: BrokerConfiguration
        var remarks: [String] = []
        do throws(ProgramError) {
            if let policy {
                configuration = try Self.read(policy: policy, trusting: Set(trust))
            } else if let config {
                configuration = try BrokerConfiguration(file: URL(filePath: config))
            } else {
                configuration = BrokerConfiguration(
                    signIn: SignInConfiguration(issuer: issuer ?? "", clientID: BrokerConfiguration.usualClientID))
            }
            if let profile {
                guard let bytes = FileManager.default.contents(atPath: profile) else {
                    throw ProgramError(
                        .configurationInvalid, reason: "the profile cannot be read", place: profile,
                        hint: "Check the path.")
                }
                remarks = try configuration.apply(profile: bytes, place: profile)
            }
        } catch {
            throw CommandFailure(error)
        }
        if let issuer { configuration.signIn.issuer = issuer }
        try ShownAddress.check(configuration.signIn.issuer, of: "issuer")
        if development {
            configuration.isDevelopment = true
            configuration.joinRoles.insert("owner")
            if config == nil, policy == nil {
                configuration.managedConfigurationSaysShared = true
                configuration.signIn.clientID = "cordon-cli"
            }
            if profile == nil, policy == nil { configuration.profileSaysShared = true }
        }
        if let service {
            guard let address = BrokerConfiguration.serviceAddress(service) else {
                throw CommandFailure(
                    .badInput, "\(ShownAddress.quoted(service)) is not the address of a service",
                    hint: "Use https, or http with 127.0.0.1 for one on this machine.")
            }
            configuration.service = address
        }
        if let deviceName { configuration.deviceName = deviceName }
        if let reportInterval { configuration.reportInterval = .seconds(reportInterval) }
        if let clientID { configuration.signIn.clientID = clientID }
        if let maxIdle { configuration.maximumIdle = .seconds(maxIdle) }
        if let maxSession { configuration.maximumSession = .seconds(maxSession) }
        if let cleanUpTime { configuration.cleanUpTime = .seconds(cleanUpTime) }
        return (configuration, remarks)
    }
}

import ArgumentParser
import CordonIdentity
import CordonSignIn
import Foundation

/// `cordon device status`: whether the device is shared, for which organisation, since when, and what is missing.
struct DeviceStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether the device is shared, and what is wrong.",
        discussion: """
            The exit status is 1 when it is not shared. Run it as root or as the broker's user to see what the broker cannot do, \
            such as serve an app whose file is not installed as it should be.

            Example: cordon device status --socket /run/cordon/broker.sock
            """)

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let information = try await options.asking { device async throws(SignInError) in
            try await device.deviceInformation()
        }
        try options.print(information, Self.text(information))
        if !information.isShared { throw ExitCode(ExitStatus.notInWantedState.rawValue) }
    }

    static func text(_ information: DeviceInformation) -> String {
        var lines: [String] = []
        if information.isShared {
            lines.append("shared")
        } else {
            lines.append("not shared yet")
            lines += information.missing.map { "missing       " + remedy($0) }
        }
        if let registration = information.registration {
            lines.append("organisation  \(TerminalText(registration.tenant.rawValue))")
            lines.append("device        \(TerminalText(registration.deviceID))")
            lines.append("since         \(registration.since.formatted(.iso8601))")
        }
        lines.append(
            "broker        \(TerminalText(information.brokerVersion)), protocol \(information.protocolVersion)")
        lines += (information.problems ?? []).map { "problem       \(TerminalText($0, limit: 1_024))" }
        lines += information.warnings.map { "warning       " + explanation($0) }
        return lines.joined(separator: "\n")
    }

    private static func remedy(_ part: DeviceInformation.MissingPart) -> String {
        let meaning =
            switch part {
            case .profile: "the profile does not set sharedDeviceMode; give `cordon broker run` one that does"
            case .managedConfiguration: "the broker's configuration does not set sharedDeviceMode to true"
            case .registration: "no one has joined the device; run `cordon device join` as root"
            }
        return "\(part.rawValue): \(meaning)"
    }

    private static func explanation(_ warning: DeviceInformation.Warning) -> String {
        let meaning =
            switch warning {
            case .development: "the broker runs for development, as the user of its apps"
            case .softwareKey: "keys lie in files that the broker's user and root can read"
            case .memoryReadable: "programs of one user can read each other's memory; set kernel.yama.ptrace_scope to 1"
            case .memoryDumped: "the system may write the broker's memory to a file when it crashes"
            case .memorySwapped: "the system may move the broker's memory to a disk; LimitMEMLOCK=infinity forbids it"
            case .seatUnheard: "nothing is heard of the screen lock, so the screen counts as locked; is logind there?"
            case .serviceNotTold: "the service does not know that the device left; release it there"
            }
        return "\(warning.rawValue): \(meaning)"
    }
}

/// `cordon device account`: who is signed in.
struct DeviceAccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Show who is signed in on the device.",
        discussion: """
            Only a broker that runs for development tells this command; any other tells only the apps on its list. The exit \
            status is 0 whether or not someone is signed in, and 4 on a device that is not shared.

            Example: cordon device account --socket ./run/broker.sock --development
            """)

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let current = try await options.asking { device async throws(SignInError) in try await device.refresh() }
        try options.print(
            current, current.current.map { TerminalText($0.userPrincipalName).text } ?? "no one is signed in")
    }
}

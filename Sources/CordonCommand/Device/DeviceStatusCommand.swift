import ArgumentParser
import CordonIdentity
import CordonSignIn
import Foundation

/// `cordon device status`: whether the device is shared, for which organisation, since when, and what is missing.
struct DeviceStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say whether the device is shared.",
        discussion:
            "The exit status is 1 when it is not.\nExample: cordon device status --socket /run/cordon/broker.sock")

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
            lines.append("not shared; missing: " + information.missing.map(\.rawValue).joined(separator: ", "))
        }
        if let registration = information.registration {
            lines.append("organisation  \(TerminalText(registration.tenant.rawValue))")
            lines.append("device        \(TerminalText(registration.deviceID))")
            lines.append("since         \(registration.since.formatted(.iso8601))")
        }
        lines.append(
            "broker        \(TerminalText(information.brokerVersion)), protocol \(information.protocolVersion)")
        lines += information.warnings.map { "warning       \($0.rawValue)" }
        return lines.joined(separator: "\n")
    }
}

/// `cordon device account`: who is signed in.
struct DeviceAccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Say who is signed in on the device.",
        discussion: "The exit status is 0 whether or not somebody is.")

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let current = try await options.asking { device async throws(SignInError) in try await device.refresh() }
        try options.print(
            current, current.current.map { TerminalText($0.userPrincipalName).text } ?? "nobody is signed in")
    }
}

import ArgumentParser
import CordonSignIn
import Foundation

/// `cordon device join`: a cloud device administrator makes this device the organisation's.
struct DeviceJoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join the device to the organisation of the person who signs in.",
        discussion: """
            Needs a person with the role Cloud Device Administrator, who is signed out again at once. Run it as root or as \
            the broker's user. Repeating it changes nothing.

            Example: cordon device join --socket /run/cordon/broker.sock
            """)

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let browser = options.browser
        let information = try await options.asking { device async throws(SignInError) in
            try await device.joinDevice(browser: browser)
        }
        try options.print(information, DeviceStatusCommand.text(information))
    }
}

/// `cordon device leave`: ends the registration, the session and all they left.
struct DeviceLeaveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "Remove the device from its organisation, signing out the person on it.",
        discussion: "Example: cordon device leave --socket /run/cordon/broker.sock")

    @OptionGroup var options: DeviceOptions

    func run() async throws {
        let browser = options.browser
        let information = try await options.asking { device async throws(SignInError) in
            try await device.leaveDevice(browser: browser)
        }
        try options.print(information, DeviceStatusCommand.text(information))
    }
}

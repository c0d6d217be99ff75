import ArgumentParser
import CordonBase
import CordonPolicy
import CordonProtocol
import CordonService
import Foundation

/// `cordon keys delegate`: has the root key delegate signing.
struct KeysDelegateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delegate", abstract: "Have the root key delegate the signing of key sets.",
        discussion: """
            On the service's machine the delegation is put in place at once; the service may run. On another machine, which \
            the root key never leaves, give the key that cordon keys request has printed, and take the delegation back to \
            cordon keys install.

            Examples:
              cordon keys delegate --root /media/safe/root.key --config /etc/cordon/service.json
              cordon keys delegate --root root.key --for request.jwk > delegation.jwt
            """)

    @OptionGroup var place: KeyPlace

    @Option(help: "The file that cordon keys export-root made.")
    var root: String

    @Option(help: "How many days it lasts, 1 to 366.")
    var days: Int = 90

    @Option(name: .customLong("for"), help: "What cordon keys request printed, on another machine than the service's.")
    var request: String?

    func run() async throws {
        guard (1...366).contains(days) else {
            throw CommandFailure(.usage, "a delegation of \(days) days", hint: "Use 1 to 366 days.")
        }
        let key = try RootKeyFile.read(root)
        let life = Duration.seconds(Int64(days) * 86_400)
        do {
            guard let request else {
                let (keys, tenant) = try place.keys()
                return try RootKeyCustody(keys, of: tenant).delegate(by: key, for: life).report()
            }
            let text = try RootKeyFile.text(request)
            let wanted = try MessageCoding.decode(JSONWebKey.self, from: Data(text.utf8))
            let now = Date()
            Terminal.data(
                try KeyDelegation(
                    of: wanted, from: now, until: now.addingTimeInterval(Double(days) * 86_400), root: key
                ).text)
        } catch let error as ServiceError {
            throw CommandFailure(error)
        } catch let error as ProtocolError {
            throw CommandFailure(.badInput, "\(request ?? root): \(error.reason)", hint: error.hint)
        }
    }
}

/// `cordon keys request`: makes the key that a root key elsewhere is to delegate to.
struct KeysRequestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request", abstract: "Make a key for the root key to delegate to, and print its public half.",
        discussion: """
            Example:
              cordon keys request --config /etc/cordon/service.json > request.jwk
            """)

    @OptionGroup var place: KeyPlace

    func run() async throws {
        let (keys, tenant) = try place.keys()
        do {
            let key = try RootKeyCustody(keys, of: tenant).request()
            Terminal.data(String(decoding: try MessageCoding.encode(key), as: UTF8.self))
        } catch let error as ServiceError {
            throw CommandFailure(error)
        }
    }
}

/// `cordon keys install`: takes a delegation that was signed elsewhere.
struct KeysInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Put a delegation in place that was signed on another machine.",
        discussion: """
            Example:
              cordon keys install delegation.jwt --config /etc/cordon/service.json
            """)

    @OptionGroup var place: KeyPlace

    @Argument(help: "What cordon keys delegate printed; - is standard input.")
    var delegation: String

    func run() async throws {
        let (keys, tenant) = try place.keys()
        let text = try RootKeyFile.text(delegation)
        do {
            try RootKeyCustody(keys, of: tenant).install(text).report()
        } catch {
            guard error.code == .invalid else { throw CommandFailure(error) }
            throw CommandFailure(
                .badInput, "\(delegation): \(error.reason)",
                hint: "Give the whole of what cordon keys delegate printed.")
        }
    }
}

/// Files with the root key or what is about it.
enum RootKeyFile {
    private static let largest = 64 << 10

    /// The root key of a file that only its owner can read.
    static func read(_ path: String) throws(CommandFailure) -> SoftwareSigningKey {
        do {
            return try SoftwareSigningKey(
                rawRepresentation: DurableFile.readPrivate(URL(fileURLWithPath: path), limit: 1 << 10))
        } catch {
            throw CommandFailure(
                .badInput, "\(path): no root key can be read there",
                hint: "Name the file of cordon keys export-root; it must have mode 0600.")
        }
    }

    /// A text of a file or of standard input.
    static func text(_ path: String) throws(CommandFailure) -> String {
        do {
            let bytes =
                path == "-"
                ? try StandardInput.read(upTo: largest)
                : try DurableFile.read(URL(fileURLWithPath: path), limit: largest) ?? Data()
            let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty else { throw CocoaError(.fileReadNoSuchFile) }
            return text
        } catch {
            throw CommandFailure(.badInput, "\(path): cannot be read", hint: "Check the path and its permissions.")
        }
    }
}

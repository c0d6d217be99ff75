import CordonDevelopmentProvider
import Foundation

/// The programs that a development service knows besides its own: one for automation at the first start, in a file to
/// edit afterwards.
enum DevelopmentClients {
    static let clientsFile = "clients.json"
    static let secretsFile = "client-secrets.txt"
    /// The program that every new folder gets, for scripts and clients of the Graph API.
    static let automation = "cordon-automation"

    private static let largestFile = 1 << 20

    /// The clients in the folder; at the first start a new one, its secret written down beside it.
    ///
    /// - Parameters:
    ///   - audience: The name of the administration service, for which the client may ask tokens.
    ///   - secret: The secret of a new client, nil for a random one.
    /// - Throws: ``CommandFailure`` with status `badInput` for a damaged file, `writeFailed` otherwise.
    static func open(
        in folder: PrivateFolder, audience: String, secret: String?
    ) throws(CommandFailure) -> [IdentityProviderClient] {
        let file = folder.url.appending(path: clientsFile)
        if FileManager.default.fileExists(atPath: file.path) { return try read(file) }
        let secret = secret ?? DevelopmentPeople.randomPassword()
        let client = IdentityProviderClient(
            id: automation, displayName: "Automation", grants: [.clientCredentials],
            resources: [audience],
            applicationRoles: ["DeviceManagementApps.ReadWrite.All", "Group.ReadWrite.All"], secret: secret)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = (try? encoder.encode([client])).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
        try folder.write("# For development only.\n\(automation) \(secret)\n", to: secretsFile)
        try folder.write(text + "\n", to: clientsFile)
        return [client]
    }

    private static func read(_ file: URL) throws(CommandFailure) -> [IdentityProviderClient] {
        do {
            let bytes = try Data(contentsOf: file)
            guard bytes.count <= largestFile else { throw CocoaError(.fileReadTooLarge) }
            return try JSONDecoder().decode([IdentityProviderClient].self, from: bytes)
        } catch {
            throw CommandFailure(
                .badInput, "\(file.path): the clients cannot be read",
                hint: "correct the file, or remove it to have a new one made")
        }
    }
}

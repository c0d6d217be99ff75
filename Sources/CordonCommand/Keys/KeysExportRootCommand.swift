import ArgumentParser
import CordonBase
import CordonProtocol
import CordonService
import CordonServiceSQLite
import Foundation
import Logging

/// `cordon keys export-root`: moves the root key away from the service.
struct KeysExportRootCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export-root", abstract: "Move the root key out of a service's folder.",
        discussion: """
            The service must be stopped. A delegation of 90 days stays behind; renew it with cordon keys delegate before it \
            ends, or apps take no new rules. Apps with a Cordon from before delegations take no new key sets from then on. \
            Exit status 4 while the service runs or where the file exists.

            Example:
              cordon keys export-root --config /etc/cordon/service.json --to /media/safe/root.key
            """)

    @OptionGroup var place: KeyPlace

    @Option(help: "A file that does not exist yet, on storage that is kept away from the service.")
    var to: String

    func run() async throws {
        let (file, folder) = try place.source.places()
        // First: the claim makes locks, which must be none of another user's, nor where there is no service.
        let (keys, tenant) = try place.keys()
        let claim = try ServiceClaim.take(folder, database: .sqlite(file))
        defer { claim.end() }
        let target = URL(fileURLWithPath: to)
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw CommandFailure(.refused, "\(to) exists", hint: "Name a file that does not exist yet.")
        }
        do {
            let storage = try SQLiteStorage(file: file)
            let service = ManagementService(
                storage: storage, keyStore: keys, logger: Logger(label: "cordon") { _ in SwiftLogNoOpLogHandler() })
            // Renews the delegation while the root key is here.
            try await service.open(tenant)
            let state = try await service.devices.readiness(of: tenant)
            try storage.close()
            guard state.isHere, let end = state.delegationEnds else {
                throw CommandFailure(
                    .notInWantedState, "the root key is not in \(folder.path)", hint: "It was moved away already.")
            }
            let secret = try keys.key(state.thumbprint, of: tenant).rawRepresentation
            try DurableFile.replace(target, with: secret)
            guard try DurableFile.readPrivate(target, limit: 1 << 10) == secret else { throw FileFailure(EIO) }
            let original = keys.place(of: state.thumbprint, of: tenant)
            try DurableFile.remove(original)
            try DurableFile.synchronize(original.deletingLastPathComponent())
            Terminal.data("moved: the root key \(state.thumbprint) is in \(to), and only there")
            Terminal.data(
                "  what it delegated ends \(end.formatted(.iso8601)); backups from before still hold the root key")
        } catch let error as ServiceError {
            throw CommandFailure(error)
        } catch let error as FileFailure {
            throw CommandFailure(
                .writeFailed, "\(to): the root key cannot be moved (error \(error.number))",
                hint: "Check permissions and free space; where both files exist, remove the new one and try again.")
        }
    }
}

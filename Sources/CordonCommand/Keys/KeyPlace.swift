import ArgumentParser
import CordonIdentity
import CordonProtocol
import CordonService
import CordonServiceHTTP
import CordonServiceSQLite
import Foundation

/// The keys of one organisation in a service's folder, told as to `cordon serve`.
struct KeyPlace: ParsableArguments {
    @OptionGroup var source: ServiceLocation

    @Option(help: "The organisation's tenant, where neither the configuration file nor the store tells it.")
    var tenant: String?

    /// The keys, and whose they are.
    ///
    /// - Throws: ``CommandFailure`` with status `badInput`.
    func keys() throws -> (store: FileServiceKeyStore, tenant: TenantID) {
        let (file, folder) = try source.places()
        let tenant = try tenant ?? self.tenant(in: file)
        do {
            return (try FileServiceKeyStore(folder: folder.appending(path: "keys")), TenantID(tenant))
        } catch { throw CommandFailure(error) }
    }

    private func tenant(in file: URL) throws -> String {
        let configured = try source.plan().server.tenant.rawValue
        guard configured.isEmpty else { return configured }
        let known: [String]
        do { known = try StorageBackup.tenants(in: file) } catch { throw CommandFailure(error) }
        guard known.count == 1, let only = known.first else {
            throw CommandFailure(.usage, "no tenant is named", hint: "Name the organisation with --tenant.")
        }
        return only
    }
}

extension KeyDelegation {
    /// Tells what was delegated.
    func report() {
        Terminal.data("delegated until \(expires.formatted(.iso8601)) by the root key \(root)")
    }
}

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
    /// - Throws: ``CommandFailure`` with status `badInput`; `refused` for an organisation that the store does not know, which would get keys that
    ///   no app trusts, and as ``ServiceUser/require(for:store:)``.
    func keys() throws -> (store: FileServiceKeyStore, tenant: TenantID) {
        let (file, folder) = try source.places()
        guard FileManager.default.fileExists(atPath: file.path) else { throw CommandFailure.noStore(at: file) }
        try ServiceUser.require(for: folder, store: file)
        do {
            let known = try StorageBackup.tenants(in: file)
            guard !known.isEmpty else {
                throw CommandFailure(
                    .badInput, "\(file.path): no service has run here yet", hint: "Start the service once before.")
            }
            let tenant = try tenant ?? configuredTenant() ?? only(of: known)
            guard known.contains(tenant) else {
                throw CommandFailure(
                    .refused, "\(file.path): the store is of \(known.joined(separator: ", ")), not of \(tenant)",
                    hint: "Correct the tenant.")
            }
            return (try FileServiceKeyStore(folder: folder.appending(path: "keys")), TenantID(tenant))
        } catch let error as ServiceError { throw CommandFailure(error) }
    }

    private func configuredTenant() throws -> String? {
        let tenant = try source.plan().server.tenant.rawValue
        return tenant.isEmpty ? nil : tenant
    }

    private func only(of known: [String]) throws -> String {
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

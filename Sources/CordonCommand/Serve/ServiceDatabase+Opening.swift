import CordonService
import CordonServiceSQLite
import Foundation

extension ServiceDatabase {
    /// Opens the store.
    ///
    /// - Throws: ``ServiceError`` with a `storage…` code.
    func open() throws(ServiceError) -> any ServiceStorage {
        switch self {
        case .memory: InMemoryStorage()
        case .sqlite(let file): try SQLiteStorage(file: file)
        }
    }

    /// Where the secrets of signing keys are: with a database that lasts, in a folder that lasts.
    ///
    /// - Throws: ``ServiceError`` with code `keyUnavailable`.
    func keyStore(in folder: URL) throws(ServiceError) -> any ServiceKeyStore {
        switch self {
        case .memory: InMemoryServiceKeyStore()
        case .sqlite: try FileServiceKeyStore(folder: folder.appending(path: "keys", directoryHint: .isDirectory))
        }
    }
}

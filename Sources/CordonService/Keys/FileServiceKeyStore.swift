internal import CordonBase
public import CordonIdentity
public import CordonProtocol
internal import Crypto
public import Foundation

#if canImport(CDispatch)
    internal import CDispatch
#endif

#if canImport(CoreFoundation)
    internal import CoreFoundation
#endif

/// Keys in files that only the service's user can read: one file of 32 bytes for each key, mode 0600, in a
/// folder that is made with mode 0700.
///
/// A file that others can read, a folder that others can write into, and a file that holds anything but the key of its
/// name are refused.
public struct FileServiceKeyStore: ServiceKeyStore {
    private let folder: URL

    /// Uses a folder, made when it does not exist.
    ///
    /// - Throws: ``ServiceError`` with code `keyUnavailable` when it cannot be made or others can write into it.
    public init(folder: URL) throws(ServiceError) {
        self.folder = folder
        try Self.makeFolder(folder)
    }

    /// Writes the key to a new file, synced to the disk with its folder before it gets its name.
    public func store(_ key: SoftwareSigningKey, of tenant: TenantID) throws(ServiceError) {
        let folder = self.folder(of: tenant)
        try Self.makeFolder(folder)
        let file = Self.file(key.publicKey.thumbprint, in: folder)
        do {
            try DurableFile.replace(file, with: key.rawRepresentation)
            try DurableFile.synchronize(self.folder)
        } catch { throw Self.failure("a key file cannot be written", file, error.number) }
    }

    /// Reads a key and checks that it is the one of that name.
    public func key(_ id: String, of tenant: TenantID) throws(ServiceError) -> SoftwareSigningKey {
        let file = Self.file(id, in: folder(of: tenant))
        let secret: Data
        do {
            secret = try DurableFile.readPrivate(file, limit: 1 << 10)
        } catch {
            switch error.number {
            case EPERM: throw Self.exposed(file)
            case ENOENT: throw Self.failure("a signing key is missing", file, error.number)
            default: throw Self.failure("a key file cannot be read", file, error.number)
            }
        }
        let key: SoftwareSigningKey
        do {
            key = try SoftwareSigningKey(rawRepresentation: secret)
        } catch {
            throw ServiceError(.keyUnavailable, "a key file is damaged", place: file.path)
        }
        guard key.publicKey.thumbprint == id else {
            throw ServiceError(.keyUnavailable, "a key file holds another key than its name says", place: file.path)
        }
        return key
    }

    /// Whether a key's file is there.
    public func holds(_ id: String, of tenant: TenantID) throws(ServiceError) -> Bool {
        let file = Self.file(id, in: folder(of: tenant))
        var facts = stat()
        if stat(file.path, &facts) == 0 { return true }
        guard errno == ENOENT else { throw Self.failure("a key file cannot be looked at", file) }
        return false
    }

    /// Reads the delegation that lies beside the keys.
    public func delegation(of tenant: TenantID) throws(ServiceError) -> String? {
        let file = folder(of: tenant).appending(path: Self.delegationName)
        do {
            return try DurableFile.read(file, limit: 16 << 10)
                .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) }
        } catch { throw Self.failure("the root key's delegation cannot be read", file, error.number) }
    }

    /// Writes the delegation beside the keys.
    public func store(delegation: String, of tenant: TenantID) throws(ServiceError) {
        let folder = self.folder(of: tenant)
        try Self.makeFolder(folder)
        let file = folder.appending(path: Self.delegationName)
        do { try DurableFile.replace(file, with: Data(delegation.utf8)) } catch {
            throw Self.failure("the root key's delegation cannot be written", file, error.number)
        }
    }

    /// The name of a delegation beside the keys.
    public static let delegationName = "delegation.jwt"

    /// The file of a key, for moving it away.
    public func place(of id: String, of tenant: TenantID) -> URL { Self.file(id, in: folder(of: tenant)) }

    /// A tenant's own folder; hashed, because a tenant id may hold any character.
    private func folder(of tenant: TenantID) -> URL {
        let hash = SHA256.hash(data: Data(tenant.rawValue.utf8)).withUnsafeBytes { Data($0.prefix(16)) }
        return folder.appending(path: Base64URL.encode(hash), directoryHint: .isDirectory)
    }

    private static func file(_ id: String, in folder: URL) -> URL {
        let isThumbprint = Base64URL.decode(id)?.count == 32
        return folder.appending(path: (isThumbprint ? id : "unknown") + ".key")
    }

    private static func makeFolder(_ folder: URL) throws(ServiceError) {
        do {
            try DurableFile.makeFolder(folder)
        } catch {
            throw failure("the key folder cannot be made", folder, error.number)
        }
        var facts = stat()
        guard stat(folder.path, &facts) == 0 else { throw failure("the key folder cannot be looked at", folder) }
        guard facts.st_mode & 0o022 == 0 else { throw exposed(folder) }
    }

    private static func exposed(_ place: URL) -> ServiceError {
        ServiceError(
            .keyUnavailable, "others than the service can get at a signing key", place: place.path,
            hint: "Take the permissions of group and others away, and rotate the key.")
    }

    private static func failure(_ reason: String, _ place: URL, _ number: Int32 = errno) -> ServiceError {
        ServiceError(.keyUnavailable, reason + ": " + String(cString: strerror(number)), place: place.path)
    }
}

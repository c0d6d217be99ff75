public import Cordon
public import Foundation

/// What the system is asked for the folders that Cordon keeps state in: a data-protection class, and no place in backups.
public enum StateShelter {
    /// Gives a folder, and what is made in it later, the class that Cordon's own state needs, and takes it out of backups. The folder is made
    /// where it is missing.
    ///
    /// Readable from the first unlock on: a wipe that comes behind the lock screen has to find what it removes, and everything that is
    /// organisation data is sealed besides. Files that an account's rules want closed sooner get their class from
    /// ``AccountFiles/fileProtection(of:)``. On Linux the folder is made and nothing else happens.
    /// - Throws: ``ProtectionError`` with code `stateUnwritable`.
    public static func shelter(_ folder: URL) throws(ProtectionError) {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            #if canImport(Darwin)
                try FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: folder.path
                )
                var values = URLResourceValues()
                values.isExcludedFromBackup = true
                var folder = folder
                try folder.setResourceValues(values)
            #endif
        } catch {
            throw ProtectionError(.stateUnwritable, "the system refuses the folder for Cordon's state")
        }
    }
}

public import Foundation

/// A key and its certificates, able to sign code directories.
public protocol SigningIdentity: Sendable {
    /// The team that the signature names.
    var team: String? { get }

    /// A detached CMS signature over the first directory that also names every directory's hash (TL-MO-28).
    /// - Throws: ``AppToolsError`` when the key cannot sign.
    func sign(_ directories: [(hashType: UInt8, blob: Data)]) throws(AppToolsError) -> Data

    /// The whole requirements blob that names code signed by this identity; nil for the empty set (TL-SG-06).
    func designatedRequirement(of identifier: String) -> Data?
}

extension SigningIdentity {
    func sign(directories: [(CodeHash, Data)]) throws(AppToolsError) -> Data {
        try sign(directories.map { ($0.rawValue, $1) })
    }
}

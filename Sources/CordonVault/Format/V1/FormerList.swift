internal import Foundation

/// The list of an account's files as version 1 kept it: a sealed file `index` with JSON that named a file on disk for each name.
/// Read to be carried over, and never written.
struct FormerList: Decodable {
    static let fileName = "index"

    /// Names on disk by the app's names.
    let files: [String: String]

    init(_ bytes: Data) throws(VaultError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: bytes)
        } catch {
            throw VaultError(.damaged, "The account's list of files is damaged.")
        }
        // Names of files beside the list, and of nothing else; by bytes, as the system reads a name: a combining mark behind a slash leaves it
        // a slash.
        let isPlain = { (name: String) in
            !name.isEmpty && !name.hasPrefix(".") && !name.utf8.contains { [0, UInt8(ascii: "/")].contains($0) }
        }
        guard files.values.allSatisfy(isPlain) else {
            throw VaultError(.damaged, "The account's list of files names a file that isn't the account's.")
        }
    }
}

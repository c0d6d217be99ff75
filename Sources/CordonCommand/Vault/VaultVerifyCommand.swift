import ArgumentParser
import CordonIdentity
import CordonVault
import Foundation

/// `cordon vault verify`: whether sealed files are what was written.
struct VaultVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check sealed files and databases.",
        discussion: """
            With --keys it proves every block genuine, and every page of a database, whose log and journal are left to SQLite. \
            Without --keys it checks only what needs no key: header, commit records and length. Exit status 1 when a file fails, \
            3 when one is missing or not sealed.

            Example: cordon vault verify --keys ~/.cordon notes.sealed
            """)

    @Option(help: "The directory of the device's root key and the account keys.")
    var keys: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "Sealed files and databases.")
    var files: [String]

    /// What was found of one file.
    struct Finding: Encodable {
        let file: String
        let owner: String?
        /// `genuine`, `well-formed` when no key was used, or the name of what is wrong.
        let result: String
        let reason: String?
    }

    func run() async throws {
        let vault = try await vaultReporting { () async throws(VaultError) -> Vault? in
            guard let keys else { return nil }
            return try Vault.ofShell(keys, making: false)
        }
        var findings: [Finding] = []
        var unreadable = 0
        for file in files {
            let path = URL(fileURLWithPath: file)
            let owner = try? Self.owner(of: path)
            do {
                try await check(path, vault)
                let result = vault == nil ? "well-formed" : "genuine"
                findings.append(Finding(file: file, owner: owner?.rawValue, result: result, reason: nil))
            } catch {
                if [.noSuchFile, .isDirectory, .notSealed, .inputOutput].contains(error.code) { unreadable += 1 }
                findings.append(
                    Finding(file: file, owner: owner?.rawValue, result: error.code.rawValue, reason: error.reason))
            }
        }
        if json {
            try Terminal.json(findings)
        } else {
            for finding in findings {
                Terminal.data("\(finding.file): \(finding.result)" + (finding.reason.map { ": \($0)" } ?? ""))
            }
        }
        let bad = findings.count { $0.reason != nil }
        guard bad == 0 else {
            throw CommandFailure(
                unreadable > 0 ? .badInput : .notInWantedState, "\(bad) of \(files.count) files did not pass",
                hint: "Restore them from a copy.")
        }
    }

    private func check(_ path: URL, _ vault: Vault?) async throws(VaultError) {
        let owner = try Self.owner(of: path)
        guard let vault else { return }
        try await vault.unlock(owner)
        if Vault.isSealedDatabase(path) {
            _ = try await vault.verifyDatabase(path)
        } else {
            _ = try await vault.verify(path)
        }
    }

    private static func owner(of path: URL) throws(VaultError) -> AccountID {
        Vault.isSealedDatabase(path) ? try Vault.inspectDatabase(path).owner : try Vault.inspect(path).owner
    }
}

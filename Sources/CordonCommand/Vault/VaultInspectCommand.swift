import ArgumentParser
import CordonIdentity
import CordonVault
import Foundation

/// `cordon vault inspect`: what a sealed file says of itself.
struct VaultInspectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Show what a sealed file or database says of itself.",
        discussion: """
            Needs no key and proves nothing; cordon vault verify does.

            Example: cordon vault inspect notes.sealed
            """)

    @Argument(help: "The sealed file or database.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let path = URL(fileURLWithPath: file)
        if Vault.isSealedDatabase(path) { return try await showDatabase(path) }
        let facts = try await vaultReporting(about: file) { () async throws(VaultError) in try Vault.inspect(path) }
        if json { return try Terminal.json(facts) }
        show([
            ("owner", facts.owner.rawValue), ("account key", facts.accountKeyID), ("file", facts.fileID),
            ("format", "\(facts.formatVersion), \(facts.algorithm), chunks of \(facts.chunkSize) bytes"),
            ("length", "\(facts.length) bytes, \(facts.bytesOnDisk) on disk"),
            ("commit", "\(facts.generation), \(facts.seals) seals"),
            ("state", facts.isBeingWritten ? "being written" : "complete"),
        ])
    }

    private func showDatabase(_ path: URL) async throws {
        let facts = try await vaultReporting(about: file) { () async throws(VaultError) in
            try Vault.inspectDatabase(path)
        }
        if json { return try Terminal.json(facts) }
        show([
            ("owner", facts.owner.rawValue), ("account key", facts.accountKeyID), ("database", facts.fileID),
            ("format", "\(facts.formatVersion), \(facts.algorithm), pages of \(facts.pageSize) bytes"),
            ("length", "\(facts.pageCount) pages, \(facts.bytesOnDisk) bytes on disk"),
        ])
    }

    private func show(_ lines: [(String, String)]) {
        for (name, value) in lines {
            Terminal.data(name.padding(toLength: 12, withPad: " ", startingAt: 0) + value)
        }
    }
}

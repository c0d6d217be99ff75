import ArgumentParser
import CordonIdentity
import CordonVault
import Foundation

/// `cordon vault open`: a sealed file becomes a readable one.
struct VaultOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open a sealed file of an account.",
        discussion: """
            If the file was changed in any way, the command ends with status 3 and writes no output file; standard output \
            has only what was proved genuine before the change.

            Example: cordon vault open --account ada@example.test --keys ~/.cordon notes.sealed -
            """)

    @OptionGroup var options: VaultKeysOptions

    @Argument(help: "The sealed file; - is standard input.")
    var input: String

    @Argument(help: "The readable file, made with mode 0600; - is standard output.")
    var output: String

    func run() async throws {
        let scratch = input == "-" || output != "-" ? try VaultScratch(for: output) : nil
        defer { scratch?.remove() }
        let spool = input == "-" ? scratch?.spool : nil
        // A file's length and place must be known, so standard input is kept for a moment, sealed as it is.
        if let spool {
            let target = try ByteStream.writing(spool, as: "standard input")
            try target.take(try ByteStream.reading("-"))
            try target.close()
        }
        let path = URL(fileURLWithPath: spool ?? input)
        try await checkOwner(of: path)
        let vault = try await options.vault(making: false)
        let file = try await vaultReporting(about: input) { () async throws(VaultError) in
            try await vault.open(path, writing: false)
        }
        guard let scratch, output != "-" else { return try copy(file, to: try ByteStream.writing("-")) }
        let target = try ByteStream.writing(scratch.path, as: output)
        do {
            try copy(file, to: target)
        } catch {
            try? target.close()
            throw error
        }
        try target.close()
        try scratch.deliver()
    }

    private func checkOwner(of path: URL) async throws {
        let owner = try await vaultReporting(about: input) { () async throws(VaultError) in
            try Vault.inspect(path).owner
        }
        guard owner == options.accountID else {
            throw CommandFailure(
                .refused, "\(input): the file belongs to \(owner)", hint: "Name that account with --account.")
        }
    }

    private func copy(_ file: SealedFile, to target: ByteStream) throws {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { memory.deallocate() }
        do {
            let total = try file.size()
            // On a terminal it would write over the end of what was opened.
            var progress = Progress("opening", isShown: output != "-" || isatty(STDOUT_FILENO) != 1)
            defer { progress.end() }
            while true {
                let count = try file.read(into: memory)
                if count == 0 { break }
                try target.write(UnsafeRawBufferPointer(rebasing: memory[..<count]))
                progress.show(file.tell(), of: total)
            }
        } catch let error as VaultError {
            let place = error.place.map { "\(input), \($0)" } ?? input
            throw CommandFailure(VaultError(error.code, error.reason, place: place, hint: error.hint))
        }
    }
}

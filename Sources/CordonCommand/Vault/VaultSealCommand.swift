import ArgumentParser
import CordonVault
import Foundation

/// `cordon vault seal`: a readable file becomes a sealed one.
struct VaultSealCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal", abstract: "Seal a file for an account.",
        discussion: """
            The account's key is made on first use. The output appears whole or not at all.

            Example: cordon vault seal --account ada@example.test --keys ~/.cordon notes.txt notes.sealed
            """)

    @OptionGroup var options: VaultKeysOptions

    @Option(help: "Bytes in a chunk, a power of two from 4096 (random access) to 1048576 (streams).")
    var chunkSize = 65536

    @Argument(help: "What to seal; - is standard input.")
    var input: String

    @Argument(help: "The sealed file; - is standard output.")
    var output: String

    func run() async throws {
        let source = try ByteStream.reading(input)
        defer { try? source.close() }
        let scratch = try VaultScratch(for: output)
        defer { scratch.remove() }
        let vault = try await options.vault(making: true)
        let file: SealedFile
        do {
            file = try await vault.create(
                URL(fileURLWithPath: scratch.path), for: options.accountID, chunkSize: chunkSize, replacing: false)
        } catch { throw failure(error) }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { memory.deallocate() }
        var progress = Progress("sealing")
        defer { progress.end() }
        while true {
            let count = try source.read(memory)
            if count == 0 { break }
            do {
                try file.write(UnsafeRawBufferPointer(rebasing: memory[..<count]))
            } catch { throw failure(error) }
            progress.show(file.tell(), of: source.length)
        }
        do { try file.close() } catch { throw failure(error) }
        try scratch.deliver()
    }

    /// What befell the output, by the name that the person gave it.
    private func failure(_ error: VaultError) -> CommandFailure {
        let told = CommandFailure(VaultError(error.code, error.reason, place: output, hint: error.hint))
        return told.status == .badInput ? CommandFailure(.writeFailed, told.message, hint: told.hint) : told
    }
}

import ArgumentParser

/// `cordon vault`: sealed files from a shell.
struct VaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault", abstract: "Seal, open and check files of the vault's format.",
        discussion: "The format is described in docs/vault-format.md.",
        subcommands: [VaultSealCommand.self, VaultOpenCommand.self, VaultInspectCommand.self, VaultVerifyCommand.self])
}

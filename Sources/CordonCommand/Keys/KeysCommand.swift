import ArgumentParser

/// `cordon keys`: where a service's root key is, and who signs in its place.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Move a service's root key away, and have it delegate signing.",
        discussion: """
            Apps trust a service by its root key. At the first start it lies with the service's other keys, and delegates \
            signing to one of them for 90 days at a time. Once it is elsewhere, an administrator renews that.

            Examples:
              cordon keys export-root --config /etc/cordon/service.json --to /media/safe/root.key
              cordon keys delegate --root /media/safe/root.key --config /etc/cordon/service.json
            """,
        subcommands: [
            KeysExportRootCommand.self, KeysDelegateCommand.self, KeysRequestCommand.self, KeysInstallCommand.self,
        ])
}

import CordonBase

/// The thumbprint of a root key as people type it.
enum RootKeyPin {
    /// Refuses what can be no thumbprint, so that a typing error is not taken for a forgery.
    ///
    /// - Throws: ``CommandFailure`` with status `usage`.
    static func check(_ pin: String?) throws(CommandFailure) {
        guard let pin, Base64URL.decode(pin)?.count != 32 else { return }
        throw CommandFailure(
            .usage, "--root-key is not a thumbprint",
            hint: "It is the 43 characters that cordon serve prints as rootKey, and the discovery document says.")
    }
}

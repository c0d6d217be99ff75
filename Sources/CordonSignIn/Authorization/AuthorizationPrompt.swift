/// How insistently the provider asks the person (SI-109, SI-181).
public enum AuthorizationPrompt: String, Sendable, CaseIterable {
    /// Only where it is needed.
    case ifNecessary = ""
    /// Choose among the known accounts.
    case selectAccount = "select_account"
    /// Give the credentials again.
    case login
    /// Consent again.
    case consent
    /// Make a new account.
    case create
    /// Ask nothing; fail where something would have to be asked.
    case none
}

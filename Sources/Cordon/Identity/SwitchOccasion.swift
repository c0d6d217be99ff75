/// When an account's gate is met on behalf of a window.
package enum SwitchOccasion: String, Sendable, Hashable {
    /// Before a window shows the account.
    case identitySwitch
    /// When the app comes back to the front while a window shows it.
    case resume
}

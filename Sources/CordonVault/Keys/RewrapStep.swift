/// A step of wrapping an account's record anew, told after it was done, so that a test can end the process there.
package enum RewrapStep: String, Sendable, CaseIterable {
    /// The key store has the new secret beside the one in force.
    case secretMade
    /// The new record is in force.
    case recordReplaced
    /// The former secret is destroyed.
    case formerDestroyed
}

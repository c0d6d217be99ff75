public import Cordon
public import Foundation

/// What happens to a navigation that a web view is about to make with an account's data on the page.
public enum WebNavigation: Sendable, Equatable {
    /// The page goes on in the web view.
    case inside
    /// The link is opened outside, with a permit.
    case outside(URL)
    /// Neither; why, for the person. Nil where there is nothing to say, as for an address that names nothing.
    case refused(PolicyDecision?)

    /// Schemes that stay inside whatever the rules: they name parts of the page itself.
    private static let ownSchemes: Set<String> = ["about", "blob", "data"]

    /// Decides a step.
    ///
    /// Only a link that leads out is a question to the rules; whether one does is the app's own knowledge (SDK-WV-05, SDK-WV-06).
    ///
    /// - Parameters:
    ///   - address: Where the step leads; nil is refused.
    ///   - isMainFrame: Whether the page itself goes there, and not a frame in it.
    ///   - isExternal: Whether the address lies outside what the app shows for the account.
    ///   - decision: Asks the rules about a link that leads out.
    public static func step(
        to address: URL?, isMainFrame: Bool, isExternal: (URL) -> Bool, decision: (URL) -> PolicyDecision
    ) -> WebNavigation {
        guard let address, let scheme = address.scheme?.lowercased() else { return .refused(nil) }
        if ownSchemes.contains(scheme) {
            // A page of data that takes the place of the whole page is how a page imitates another.
            return isMainFrame && scheme == "data" ? .refused(nil) : .inside
        }
        guard isExternal(address) else { return .inside }
        let decision = decision(address)
        guard decision.verdict.permits else { return .refused(decision) }
        return isMainFrame ? .outside(address) : .inside
    }

    /// The question whether a page may be given an owner's files, for a web view of a kind (SDK-WV-02…04).
    public static func upload(of owner: Identity, to kind: WebViewerPolicy) -> Question {
        var question = Question(.webUpload, owner: EffectiveIdentity(owner))
        question.viewer = kind
        return question
    }

    /// Whether a page that starts at an address leaves it for another host, for a view that was not told what is external: everything but the
    /// page's own host is.
    public static func isOtherHost(_ address: URL, than page: URL) -> Bool {
        guard let host = page.host()?.lowercased() else { return true }
        return address.host()?.lowercased() != host
    }
}

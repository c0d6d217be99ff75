import Cordon
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonSignIn
import Foundation

/// Asks for credentials again where the rules require a fresh sign-in, such as after too many wrong PINs.
///
/// A live browser session is not enough: anyone holding the unlocked device has it too.
actor FreshSignIn {
    /// How long ago the person may have given credentials for it to count.
    static let window = Duration.seconds(300)

    private let client: SignInClient
    private let shared: SharedDeviceMode?
    private let discovery: ServiceDiscovery
    private let screen: Screen
    private let input: TypedLines
    private var latest: (account: AccountID, at: ContinuousClock.Instant)?

    init(
        _ client: SignInClient, shared: SharedDeviceMode?, discovery: ServiceDiscovery, screen: Screen,
        input: TypedLines
    ) {
        self.client = client
        self.shared = shared
        self.discovery = discovery
        self.screen = screen
        self.input = input
    }

    /// Answers the gate: the account signed in, or why it did not.
    func answer(for account: ManagedAccount) async -> SignInAnswer {
        if let latest, latest.account == account.id, latest.at.duration(to: .now) < Self.window {
            // A sign-in counts once.
            self.latest = nil
            return .signedIn(account.id)
        }
        do throws(SignInError) {
            return .signedIn(try await signIn(account).id)
        } catch {
            if error.code == .cancelled { return .cancelled }
            // The gate asks only while the account is closed.
            return .unavailable(Problem(error, isSomethingOpen: false).sentences)
        }
    }

    /// Signs in with credentials, and remembers it for the gate that asks next.
    func signInAhead() async throws(SignInError) -> SignedInAccount {
        let account = try await signIn(nil)
        latest = (account.id, .now)
        return account
    }

    /// Opens the sign-in page in a browser. If `account` is given, only that account is accepted.
    private func signIn(_ account: ManagedAccount?) async throws(SignInError) -> SignedInAccount {
        var request = SignInRequest(for: discovery)
        request.prompt = .login
        request.maximumAuthenticationAge = Self.window
        request.account = account?.id
        request.loginHint = account?.userPrincipalName
        let (asked, browser, client, shared) = (request, screen.browser, client, shared)
        return try await input.untilCancelled { () async throws(SignInError) -> SignedInAccount in
            if let shared { return try await shared.signIn(asked, browser: browser).account }
            return try await client.signIn(asked, browser: browser).account
        }
    }
}

extension Screen {
    /// A browser that is the person's own: the page's address is shown.
    var browser: BrowserLauncher {
        .opening { page in
            tell(
                "browser",
                "open \(page.absoluteString) in a browser; this waits ten minutes, and `cancel` ends it",
                ["page": .string(page.absoluteString), "minutes": .integer(10)])
        }
    }
}

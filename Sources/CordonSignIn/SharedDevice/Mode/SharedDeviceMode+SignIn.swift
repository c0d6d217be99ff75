internal import CordonIdentity
internal import CordonProtocol
internal import Foundation

extension SharedDeviceMode {
    /// Signs a person in to the device: every allowed app has the account from then on (SI-042).
    ///
    /// The broker makes the request, keeps the proof key and gets the tokens; the app only shows the page. While
    /// a person is signed in, every other one is refused with `accountMismatch` (SI-045). While none is, the provider asks for credentials
    /// whatever ``SignInRequest/prompt`` says, and ``AuthorizationPrompt/none`` is refused: the browser may still be signed in as the person before.
    /// - Parameters:
    ///   - request: What is asked for. Extra parameters are refused: on a shared device the administrator sets them.
    ///   - browser: Shows the page.
    /// - Throws: ``SignInError``.
    public func signIn(
        _ request: SignInRequest, browser: BrowserLauncher
    ) async throws(SignInError) -> SharedSignIn {
        guard request.extraParameters.isEmpty else {
            throw SignInError(
                .configuration, .invalidParameter, "extra parameters cannot be sent through the broker",
                hint: "Have the administrator set them for the device.")
        }
        var call = SignInCall()
        call.scopes = request.scopes
        call.resource = request.resource
        call.requiresProof = request.requiresProofOfPossession ? true : nil
        call.loginHint = request.loginHint
        call.domainHint = request.domainHint
        call.extraScopes = request.extraScopesToConsent.isEmpty ? nil : request.extraScopesToConsent
        call.maximumAge = request.maximumAuthenticationAge?.components.seconds
        call.prompt = request.prompt == .ifNecessary ? nil : request.prompt.rawValue
        call.account = request.account
        call.claims = request.claims?.json
        return try took(
            try await link.call(call, correlationID: request.correlationID, progress: showing(browser)))
    }

    /// Signs a person in on another screen (RFC 8628): for kiosks without a browser.
    ///
    /// - Throws: ``SignInError`` as ``signIn(_:browser:)``.
    public func signIn(
        _ request: DeviceCodeRequest, show: @escaping @Sendable (DeviceCodePrompt) async -> Void
    ) async throws(SignInError) -> SharedSignIn {
        var call = DeviceCodeCall()
        call.scopes = request.scopes
        call.resource = request.resource
        call.requiresProof = request.requiresProofOfPossession ? true : nil
        call.account = request.account
        let token = try await link.call(call, correlationID: request.correlationID) { progress, _ in
            // The broker has refused a code that cannot be shown; from anything else that answers here none is shown.
            guard let prompt = try? DeviceCodePrompt(progress) else { return }
            Task { await show(prompt) }
        }
        return try took(token)
    }

    /// Registers the device, which a cloud device administrator does, signing in for this one act (SI-005, SI-023).
    ///
    /// - Throws: ``SignInError`` with code `brokerRefused` when the person lacks the role or the caller is no local
    ///   administrator; the device's record is unchanged then.
    public func joinDevice(browser: BrowserLauncher) async throws(SignInError) -> DeviceInformation {
        try await link.call(JoinDeviceCall(), progress: showing(browser))
    }

    /// Ends the registration and whatever session there is (SI-027).
    ///
    /// - Throws: ``SignInError`` as ``joinDevice(browser:)``.
    public func leaveDevice(browser: BrowserLauncher) async throws(SignInError) -> DeviceInformation {
        try await link.call(LeaveDeviceCall(), progress: showing(browser))
    }

    private func took(_ token: BrokerToken) throws(SignInError) -> SharedSignIn {
        guard let account = token.account else { throw Self.malformed }
        sessions[account.id] = token.session
        return SharedSignIn(
            account: account, session: token.session, accessToken: token.accessToken, matchesHint: token.matchesHint)
    }

    /// Shows the pages that a request calls for.
    func showing(_ browser: BrowserLauncher) -> @Sendable (BrokerProgress, AskedRequest) -> Void {
        { progress, request in Task { await Self.show(progress, browser, for: request) } }
    }

    /// Shows the page and hands back where it ended, if the browser says so; otherwise the broker's listener hears it.
    private static func show(_ progress: BrokerProgress, _ browser: BrowserLauncher, for request: AskedRequest) async {
        do {
            let end = try await browser.visit(progress.page, redirect: progress.redirect ?? progress.page)
            await request.tell { ReturnCall(request: $0, url: end?.absoluteString) }
        } catch {
            await request.tell { CancelCall(request: $0) }
        }
    }
}

/// What signing in to the device gave.
public struct SharedSignIn: Sendable {
    /// Who signed in.
    public let account: SignedInAccount
    /// The session number; work that runs on stops when another one is in force (SI-072).
    public let session: UInt64
    /// The token for the resource that was asked for.
    public let accessToken: AccessToken
    /// Whether it is who was hinted; nil without a hint.
    public let matchesHint: Bool?
}

extension DeviceCodePrompt {
    init(_ progress: BrokerProgress) throws(SignInError) {
        try self.init(
            userCode: progress.userCode ?? "", page: progress.page, completePage: progress.completePage,
            expires: progress.expires ?? .distantPast)
    }
}

#if canImport(UIKit) && canImport(Security)
    public import Cordon
    internal import CordonScreens
    public import Foundation
    internal import UIKit

    extension ProtectionConfiguration {
        /// The configuration of this app, with what is right on iOS: the settings of its Info.plist, its state in a folder of its own that no backup has, root
        /// key, secrets, counters and what a finger or a face opens in the Keychain, sign-in in the system's authentication session, facts of the device.
        ///
        /// Everything can be changed before ``AppProtection`` is made of it. ``interface`` is a ``ScreenInterface``, which `CordonUIKit` and
        /// `CordonSwiftUI` draw. What is wrong in the Info.plist is posted as ``ProtectionEvent/settingRefused(reason:)`` when the protection starts.
        ///
        /// - Parameters:
        ///   - service: Where the organisation's service is.
        ///   - rootKey: The thumbprint that `cordon serve` prints as `rootKey`.
        ///   - bundle: Whose Info.plist is read; `CordonSettings` in it has at least `ClientID` and `RedirectURI`.
        /// - Throws: ``ProtectionError``: `invalidConfiguration`, `stateUnwritable`, `serviceUnusable` when a setting is missing or the service was
        ///   never reached; ``SignInError`` when the sign-in cannot be set up.
        @MainActor public static func ofThisApp(
            service: URL, rootKey: String, bundle: Bundle = .main
        ) async throws -> ProtectionConfiguration {
            let folder = try stateFolder()
            let transport = URLSessionTransport()
            var settings = settings(of: bundle)
            let bundleID = bundle.bundleIdentifier ?? ""
            let protected = folder.appending(path: "protected")
            let (keys, counter) = (KeychainKeys(), KeychainStateCounter(SystemKeychain()))
            let memory = try ServiceMemory(
                dataDirectory: protected, bundleID: settings.containingBundleID ?? bundleID, keyStore: keys,
                stateCounter: counter)
            let discovery = try await AppProtection.discover(service, over: transport, rememberedIn: memory)
            if settings.authority == nil { settings.authority = discovery.issuer.absoluteString }
            let cache = try TokenCache(
                directory: folder.appending(path: "tokens"),
                secrets: KeychainSecretStore(accessGroup: settings.tokenCacheKeychainGroup))
            let signer = try? SecureEnclaveSigner()
            let signIn = try SettingsSignIn(settings) { settings in
                try SignInClient(
                    configuration: settings.signInConfiguration(bundleID: bundleID), transport: transport,
                    cache: cache, signer: signer)
            }
            let person = PersonSignIn(place: signIn, discovery: discovery)
            var configuration = ProtectionConfiguration(
                application: ApplicationFacts(
                    bundleID: settings.containingBundleID ?? bundleID,
                    version: bundle.object(forInfoDictionaryKey: "CFBundleShortVersionString") as? String ?? "0",
                    build: build(of: bundle)),
                device: .ofThisDevice, service: service, rootKey: rootKey,
                dataDirectory: protected, keyStore: keys, transport: transport,
                sessions: signIn)
            configuration.settings = settings
            configuration.stateCounter = counter
            let items = KeychainBiometry()
            configuration.biometryItems = items
            configuration.evidence = AppAttest()
            configuration.isExtension = bundle.bundlePath.hasSuffix(".appex")
            configuration.deviceFacts = { _ in .ofThisDevice() }
            configuration.signIn = { name throws(SignInError) in try await person.signIn(name) }
            configuration.interface = ScreenInterface(biometry: DeviceBiometry(opening: items)) {
                await person.signInAgain($0)
            }
            return configuration
        }

        /// A folder of the app's own, also where it belongs to an app group: the system ends an app that is suspended while it holds a lock on a file in
        /// a folder that others share.
        private static func stateFolder() throws(ProtectionError) -> URL {
            guard
                let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            else { throw ProtectionError(.stateUnwritable, "the app has no folder for its own files") }
            let folder = support.appending(path: "Cordon")
            try StateShelter.shelter(folder)
            return folder
        }

        /// The build as a service takes it; nothing depends on it.
        private static func build(of bundle: Bundle) -> String? {
            let build = bundle.object(forInfoDictionaryKey: "CFBundleVersion") as? String
            return build.flatMap { (1...128).contains($0.utf8.count) ? $0 : nil }
        }

        private static func settings(of bundle: Bundle) -> ProtectionSettings {
            guard let file = bundle.url(forResource: "Info", withExtension: "plist"),
                let data = try? Data(contentsOf: file)
            else { return ProtectionSettings() }
            return ProtectionSettings.read(data).settings
        }
    }

    /// Signs a person in over the window in front.
    private struct PersonSignIn: Sendable {
        let place: SettingsSignIn
        let discovery: ServiceDiscovery

        func signIn(_ name: String?) async throws(SignInError) -> ManagedAccount {
            var request = SignInRequest(for: discovery)
            request.loginHint = name
            return try await place.client.signIn(request, browser: Self.browser).account.managed
        }

        func signInAgain(_ prompt: SignInPrompt) async -> SignInAnswer {
            var request = SignInRequest(for: discovery)
            request.prompt = .login
            request.account = prompt.account.id
            do {
                return .signedIn(try await place.client.signIn(request, browser: Self.browser).account.id)
            } catch {
                return error.code == .cancelled ? .cancelled : .unavailable(error.reason)
            }
        }

        private static var browser: BrowserLauncher {
            .authenticationSession {
                let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
                let front = scenes.first { $0.activationState == .foregroundActive } ?? scenes.first
                return front?.windows.first { !$0.isHidden }
            }
        }
    }
#endif

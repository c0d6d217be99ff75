public import CordonProtocol
public import CordonSignIn
public import Foundation

extension AppProtection {
    /// What a service says of itself: its organisation, its OpenID provider, and the resource that tokens are asked for.
    ///
    /// For setting up sign-in before there is an account. The document is not signed and nothing here looks at the root key:
    /// call ``verifyService()`` before a person is sent to the provider that it names.
    ///
    /// - Parameters:
    ///   - service: Where the service is: https and a host, or http with an address of this machine.
    ///   - transport: How it is reached.
    ///   - folder: The app's data folder. What the service said last time is kept there and answers while the service does
    ///     not; nil keeps nothing.
    /// - Throws: ``ProtectionError``: `invalidConfiguration` when the address is none that a request may be sent to,
    ///   `serviceUnusable` when no usable answer came, now or before.
    public static func discover(
        _ service: URL, over transport: any HTTPTransport, rememberedIn folder: URL? = nil
    ) async throws(ProtectionError) -> ServiceDiscovery {
        try ProtectionConfiguration.check(service: service)
        let memory = folder.map { $0.appending(path: "life") }
        do throws(ServiceFailure) { return try await discover(service, over: transport, in: memory) } catch {
            throw ProtectionError(.serviceUnusable, error.reason)
        }
    }

    /// Makes sure, before anybody types a password, that the configured address answers as the organisation's service: its
    /// description is whole, and its key set is signed by the pinned root key (SRV-CI-084).
    ///
    /// Call it before a sign-in that the app starts itself; ``signInAndEnroll(_:)`` and ``launch(_:)`` do so where they
    /// start one. Needs the network. The description itself carries no signature: that nobody stands between app and
    /// service is up to TLS.
    ///
    /// - Returns: What the service says of itself.
    /// - Throws: ``ProtectionError``: `invalidConfiguration` when the service signs with another root key than the
    ///   configured one, `serviceUnusable` when no usable answer came.
    @discardableResult
    public func verifyService() async throws(ProtectionError) -> ServiceDiscovery {
        do throws(ServiceFailure) { return try await verifiedService() } catch {
            guard case .unacceptable(let reason) = error, reason.code == .unknownKey else {
                throw ProtectionError(.serviceUnusable, error.reason)
            }
            throw ProtectionError(
                .invalidConfiguration, error.reason, hint: "Compare the root key with the one that the service prints.")
        }
    }

    /// What the service says of itself, now or last time, after its key set was found to be signed by the pinned root key.
    func verifiedService() async throws(ServiceFailure) -> ServiceDiscovery {
        let discovery = try await discovered()
        _ = try await verifiedKeys(of: discovery)
        return discovery
    }

    /// The key set that a service gives out, signed by the pinned root key and valid now.
    func verifiedKeys(of discovery: ServiceDiscovery) async throws(ServiceFailure) -> SignedKeySet {
        let keys = try await ServiceClient.keySet(of: discovery, over: configuration.transport)
        do throws(ProtocolError) {
            _ = try keys.verified(pin: configuration.rootKeyPin, at: configuration.clock.now())
        } catch { throw .unacceptable(error) }
        return keys
    }

    /// What the app's service says of itself, or said last time.
    func discovered() async throws(ServiceFailure) -> ServiceDiscovery {
        let memory = configuration.dataDirectory.appending(path: "life")
        return try await Self.discover(configuration.service, over: configuration.transport, in: memory)
    }

    private static func discover(
        _ service: URL, over transport: any HTTPTransport, in memory: URL?
    ) async throws(ServiceFailure) -> ServiceDiscovery {
        let file = memory.flatMap { try? StateFolder($0).file("service-" + FolderName.hash(service.absoluteString)) }
        do throws(ServiceFailure) {
            let discovery = try await ServiceClient.discover(at: service, over: transport)
            // What cannot be kept is asked for again.
            if let bytes = try? MessageCoding.encode(discovery) { try? file?.write(bytes) }
            return discovery
        } catch {
            guard let bytes = try? file?.read(),
                let known = try? MessageCoding.decode(ServiceDiscovery.self, from: bytes), (try? known.check()) != nil
            else { throw error }
            return known
        }
    }
}

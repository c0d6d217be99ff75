public import CordonProtocol
public import CordonSignIn
public import Foundation

extension AppProtection {
    /// What a service says of itself: its organisation, its OpenID provider, and the resource that tokens are asked for.
    ///
    /// For setting up sign-in before there is an account; nothing in it is trusted for more than finding the way.
    ///
    /// - Parameters:
    ///   - service: Where the service is, scheme and host.
    ///   - transport: How it is reached.
    ///   - folder: The app's data folder. What the service said last time is kept there and answers while the service does
    ///     not; nil keeps nothing.
    /// - Throws: ``ProtectionError`` with code `serviceUnusable` when no usable answer came, now or before.
    public static func discover(
        _ service: URL, over transport: any HTTPTransport, rememberedIn folder: URL? = nil
    ) async throws(ProtectionError) -> ServiceDiscovery {
        let memory = folder.map { $0.appending(path: "life") }
        do throws(ServiceFailure) { return try await discover(service, over: transport, in: memory) } catch {
            throw ProtectionError(.serviceUnusable, error.reason)
        }
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
                let known = try? MessageCoding.decode(ServiceDiscovery.self, from: bytes)
            else { throw error }
            return known
        }
    }
}

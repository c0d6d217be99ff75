import CordonBase
import CordonPolicy
import CordonService
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CordonServiceHTTP

/// What watchers of the service are told when its disk is full.
@Suite struct ReadinessTests {
    @Test func `a service that cannot write is not ready, and is again once it can`() async throws {
        let storage = FullDiskStorage()
        let service = try await TestService(storage: storage)
        _ = try await service.publishPolicy()
        try await service.test { client in
            func ready() async throws -> Bool {
                try await client.client.execute(uri: "/readyz", method: .get).status == .ok
            }
            #expect(try await ready())
            let device = TestDevice()
            storage.isFull.withLock { $0 = true }
            let answer = try await client.send(.post, "/mam/v1/registrations", as: device, device.registration)
            #expect(answer.status == .serviceUnavailable)
            let told = "\(answer.json)"
            #expect(!told.contains("disk") && !told.contains("folder"), "a device cannot make room: \(told)")
            #expect(try await !ready())
            #expect(try await !ready(), "reading alone is no proof")
            storage.isFull.withLock { $0 = false }
            #expect(try await ready())
            _ = try await client.register(device)
        }
    }
}

import CordonBase
import CordonPolicy
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

@testable import CordonService
@testable import CordonServiceHTTP

/// What watchers of the service are told when its disk is full.
@Suite struct ReadinessTests {
    @Test func `a service that cannot write is not ready, and is again once it can`() async throws {
        let storage = FullDiskStorage()
        let service = try await TestService(storage: storage)
        _ = try await service.publishPolicy()
        // What is told behind the policy writes as well.
        try await service.service.finishAnnouncing(of: TestService.tenant)
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

    @Test func `a service is not ready where nothing but the smallest change finds room`() async throws {
        let storage = FullDiskStorage()
        let service = try await TestService(storage: storage)
        _ = try await service.publishPolicy()
        try await service.service.finishAnnouncing(of: TestService.tenant)
        try await service.test { client in
            func ready() async throws -> Bool {
                try await client.client.execute(uri: "/readyz", method: .get).status == .ok
            }
            let device = TestDevice()
            storage.room.withLock { $0 = 4_096 }
            storage.isFull.withLock { $0 = true }
            let answer = try await client.send(.post, "/mam/v1/registrations", as: device, device.registration)
            #expect(answer.status == .serviceUnavailable)
            storage.isFull.withLock { $0 = false }
            #expect(try await !ready())
            // A change that finds room, which the probe does not.
            let telling = AccountSignal(.sessionsRevoked, of: "somebody", at: Date(timeIntervalSince1970: 0))
            _ = try await service.service.provisioning.apply(telling, from: "idp", of: TestService.tenant)
            #expect(try await !ready())
            storage.room.withLock { $0 = nil }
            #expect(try await ready())
            let left = try await storage.read(TestService.tenant) {
                try $0.count(StoreProbe.self, of: .all, atMost: .max)
            }
            #expect(left == 0)
        }
    }

    @Test func `what an operator has to look at is said to watchers inside, and not to unknown clients`() async throws {
        let service = try await TestService()
        let condition = ServiceCondition(.disk, "the disk is almost full", ["free": "1024"])
        service.metrics.note([], [condition])
        let inside = Router(context: BasicRequestContext.self)
        HealthRoutes(
            devices: service.service.devices, tenant: TestService.tenant, metrics: service.metrics, isInside: true
        ).add(to: inside)
        try await Application(router: inside).test(.router) { client in
            let answer = try await client.execute(uri: "/readyz", method: .get)
            #expect(answer.status == .ok, "a full disk alone keeps no app from checking in")
            #expect(String(buffer: answer.body) == "ready\ndisk.low: the disk is almost full, free 1024\n")
        }
        try await service.test { client in
            let answer = try await client.client.execute(uri: "/readyz", method: .get)
            #expect(String(buffer: answer.body) == "ready\n")
        }
    }
}

import ArgumentParser
import CordonIdentity
import CordonService
import CordonTestSupport
import Foundation
import Logging
import Testing

@testable import CordonCommand

/// `cordon serve approve`: who may write the service's folder releases a change that waits.
@Suite struct ServeApproveCommandTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `a change that was approved on the machine passes, and the log says who released it`() async throws {
        try await withServeFolder { folder in
            let arguments = ["--development", "--database", "memory:", "--data-directory", folder.path]
            let running = try await RunningService.open(
                try ServeOptions.parse(arguments + ["--listen", "127.0.0.1:0"]).plan(), logger: Self.logger)
            let admin = running.service.administration
            let owner = Administrator(
                tenant: running.tenant, id: "owner", name: "Owner", roles: [.owner],
                call: CallFacts(hasFreshSignIn: true))
            let role = CustomRole(
                id: "second", displayName: "Second", permissions: [.read, .approve], members: ["user:carol"])
            func save() async -> ServiceError? {
                do throws(ServiceError) {
                    try await admin.saveResource(role, isNew: true, as: owner)
                    return nil
                } catch {
                    return error
                }
            }
            let refused = await save()
            #expect(refused?.code == .waiting)
            let id = try #require(refused?.place)
            try ServeApproveCommand.parse(arguments + [id]).run()
            #expect(ApprovalFolder.approved(in: folder) == [id])
            await running.releaseApproved(logger: Self.logger)
            #expect(ApprovalFolder.approved(in: folder) == [])
            #expect(try await admin.approvals.change(id, as: owner).decidedBy == "machine")
            #expect(await save() == nil)
            // What waits for nothing is put away; text that is not an id is never a file.
            try ApprovalFolder.approve(id, in: folder)
            await running.releaseApproved(logger: Self.logger)
            #expect(ApprovalFolder.approved(in: folder) == [])
            #expect(throws: CommandFailure.self) { try ServeApproveCommand.parse(arguments + ["../key"]).run() }
        }
    }
}

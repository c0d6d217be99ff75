internal import CordonIdentity
internal import CordonProtocol
public import CordonService

/// What every ``ServiceStorage`` must do, as one suite for all of them.
///
/// Run each of ``checks`` on a new, empty store:
///
/// ```swift
/// @Test(arguments: ServiceStorageConformance.checks)
/// func `my store conforms`(check: ServiceStorageConformance.Check) async throws {
///     try await check.run(on: MyStorage())
/// }
/// ```
public enum ServiceStorageConformance {
    /// One promise of a store.
    public struct Check: Sendable, CustomStringConvertible {
        /// The promise, as a sentence.
        public let description: String
        private let body: @Sendable (any ServiceStorage) async throws -> Void

        init(_ description: String, _ body: @escaping @Sendable (any ServiceStorage) async throws -> Void) {
            self.description = description
            self.body = body
        }

        /// Tries the promise on an empty store.
        ///
        /// - Throws: ``ProgramError`` with what was seen instead when it is broken; ``ServiceError`` when the store fails otherwise.
        public func run(on storage: any ServiceStorage) async throws {
            try await body(storage)
        }
    }

    /// Every promise.
    public static let checks = recordChecks + pageChecks + transactionChecks + auditChecks

    static let tenant = TenantID("contoso.example")
    static let otherTenant = TenantID("fabrikam.example")

    static func require(_ condition: Bool, _ reason: String) throws {
        guard condition else { throw ProgramError(.failed, reason: reason) }
    }
}

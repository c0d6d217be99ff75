// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

open class DCAppAttestService: NSObject, @unchecked Sendable {
    public static let shared = DCAppAttestService()
    open var isSupported: Bool { true }
    open func generateKey() async throws -> String { Data(repeating: 7, count: 32).base64EncodedString() }
    open func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data { clientDataHash }
    open func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data { clientDataHash }
}

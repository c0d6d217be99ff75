import Foundation
import Testing

@testable import CordonSignIn

@Suite struct TokenOptionsTests {
    @Test func `every request has a correlation id of its own, a random one of version 4`() {
        let ids = (0..<1_000).map { _ in TokenOptions().correlationID }
        #expect(Set(ids).count == 1_000)
        for id in ids { #expect(id.uuid.6 >> 4 == 4 && id.uuid.8 >> 6 == 2) }
    }
}

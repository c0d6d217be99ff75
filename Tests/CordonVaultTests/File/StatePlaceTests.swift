import CordonBase
import Foundation
import Testing

@testable import CordonVault

/// Which folders a process remembers to be of Cordon's state.
struct StatePlaceTests {
    @Test func `a process forgets the folders of stores that went long ago, and none of a store that is there`()
        async throws
    {
        let workshop = try await Workshop()
        func note(in vault: String) -> URL { workshop.path("\(vault)/owners/note") }
        let secret = workshop.path("keys/secrets/secret")
        do {
            let keys = FileKeyStore(directory: workshop.path("keys"))
            _ = try Vault(directory: workshop.path("gone"), keyStore: keys, name: "gone")
        }
        // Another vault of a home that is in use.
        _ = try await workshop.reopened()
        for number in 0..<StatePlaces.mostLeft { _ = StatePlaces.noting([workshop.path("other \(number)")]) }
        #expect(!StatePlaces.hold(note(in: "gone")))
        #expect(!StatePlaces.hold(secret))
        #expect(StatePlaces.hold(note(in: "vault")))
        withExtendedLifetime(workshop) {}
    }
}

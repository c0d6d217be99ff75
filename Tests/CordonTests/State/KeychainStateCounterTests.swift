import Cordon
import CordonBase
import CordonTestSupport
import Foundation
import Testing

/// Numbers in the Keychain, by the statuses that it gives.
@Suite struct KeychainStateCounterTests {
    @Test func `a number rises and never falls, and another name has its own`() throws {
        let counter = KeychainStateCounter(FakeKeychain())
        #expect(try counter.value(of: "a") == 0)
        try counter.raise("a", to: 7)
        try counter.raise("a", to: 5)
        try counter.raise("b", to: 2)
        #expect(try counter.value(of: "a") == 7)
        #expect(try counter.value(of: "b") == 2)
    }

    @Test(arguments: [-25308, -34018, -25293, -50] as [Int32])
    func `a Keychain that is locked, not entitled or out of order is no empty one`(status: Int32) throws {
        let keychain = FakeKeychain()
        let counter = KeychainStateCounter(keychain)
        try counter.raise("a", to: 7)
        keychain.failure.withLock { $0 = status }
        #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter.value(of: "a") }
        #expect(throws: ProtectionError.self) { try counter.raise("a", to: 8) }
        keychain.failure.withLock { $0 = nil }
        #expect(try counter.value(of: "a") == 7)
    }

    @Test func `an item that holds no number cannot be told, and is not written over`() throws {
        let keychain = FakeKeychain()
        _ = keychain.add(Data("seven".utf8), service: "cordon.state", account: "a")
        let counter = KeychainStateCounter(keychain)
        #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter.value(of: "a") }
        #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter.raise("a", to: 8) }
    }

    @Test func `of two processes that raise the same number one succeeds, in a file as in the Keychain`() throws {
        let place = try TemporaryFolder.make()
        defer { TemporaryFolder.remove(place) }
        let keychain = FakeKeychain()
        let counters: [any StateCounter] = [KeychainStateCounter(keychain), try FileStateCounter(directory: place)]
        for counter in counters {
            #expect(try counter.raise("a", from: 0, to: 5))
            #expect(try !counter.raise("a", from: 0, to: 9))
            #expect(try counter.raise("a", from: 5, to: 8))
            #expect(try !counter.raise("a", from: 8, to: 7))
            #expect(try counter.value(of: "a") == 8)
        }
        for (name, number) in [("a", 8), ("b", 0)] as [(String, Int64)] {
            keychain.between.withLock { $0 = { $0.store(Data("20".utf8), "cordon.state", name) } }
            #expect(try !KeychainStateCounter(keychain).raise(name, from: number, to: 30))
            #expect(try KeychainStateCounter(keychain).value(of: name) == 20)
        }
    }

    @Test func `of two processes at once the higher number stays, whichever writes last`() throws {
        let keychain = FakeKeychain()
        let counter = KeychainStateCounter(keychain)
        // Between the look and the write of this process another one writes.
        keychain.between.withLock { $0 = { $0.store(Data("9".utf8), "cordon.state", "a") } }
        try counter.raise("a", to: 5)
        #expect(try counter.value(of: "a") == 9)
        keychain.between.withLock { $0 = { $0.store(Data("20".utf8), "cordon.state", "a") } }
        try counter.raise("a", to: 12)
        #expect(try counter.value(of: "a") == 20)
        keychain.between.withLock { $0 = { $0.store(Data("21".utf8), "cordon.state", "a") } }
        try counter.raise("a", to: 30)
        #expect(try counter.value(of: "a") == 30)
    }
}

/// A Keychain in memory with the statuses of the real one.
private final class FakeKeychain: KeychainItems {
    let failure = Locked<Int32?>(nil)
    /// What another process does before the next write, once.
    let between = Locked<(@Sendable (FakeKeychain) -> Void)?>(nil)
    private let items = Locked<[String: Data]>([:])

    func store(_ data: Data, _ service: String, _ account: String) {
        items.withLock { $0[service + "/" + account] = data }
    }

    func data(service: String, account: String) -> (status: Int32, data: Data?) {
        if let failure = failure.withLock({ $0 }) { return (failure, nil) }
        let data = items.withLock { $0[service + "/" + account] }
        return (data == nil ? -25300 : 0, data)
    }

    func add(_ data: Data, service: String, account: String) -> Int32 {
        write {
            guard $0[service + "/" + account] == nil else { return -25299 }
            $0[service + "/" + account] = data
            return 0
        }
    }

    func replace(_ former: Data, with data: Data, service: String, account: String) -> Int32 {
        write {
            guard $0[service + "/" + account] == former else { return -25300 }
            $0[service + "/" + account] = data
            return 0
        }
    }

    private func write(_ body: @Sendable (inout [String: Data]) -> Int32) -> Int32 {
        if let failure = failure.withLock({ $0 }) { return failure }
        let other = between.withLock { between in
            defer { between = nil }
            return between
        }
        other?(self)
        return items.withLock(body)
    }
}

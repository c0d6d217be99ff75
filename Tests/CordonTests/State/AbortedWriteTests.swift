import CordonBase
import CordonTestSupport
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// Records that a killed process has written and not counted: who collects them has no stock of records for later.
@Suite(.timeLimit(.minutes(10))) struct AbortedWriteTests {
    /// A counter that takes no number while it is stuck, as one of a process that is killed just before.
    private struct StuckCounter: StateCounter {
        let numbers: FileStateCounter
        let isStuck = Locked(false)
        /// Whether it does not even say what it holds.
        let isSilent = Locked(false)

        func value(of name: String) throws -> Int64 {
            if isSilent.withLock({ $0 }) { throw POSIXError(.EIO) }
            return try numbers.value(of: name)
        }
        func raise(_ name: String, to number: Int64) throws {
            if isStuck.withLock({ $0 }) { throw POSIXError(.EIO) }
            try numbers.raise(name, to: number)
        }
        func raise(_ name: String, from former: Int64, to number: Int64) throws -> Bool {
            if isStuck.withLock({ $0 }) { throw POSIXError(.EIO) }
            return try numbers.raise(name, from: former, to: number)
        }
    }

    private final class Home: Sendable {
        let place = TemporaryFolder.newPath()
        let counter: StuckCounter
        let seal: StateSeal

        init() throws {
            counter = StuckCounter(numbers: try FileStateCounter(directory: place.appending(path: "counters")))
            seal = StateSeal(
                keyStore: InMemoryKeyStore(), folder: try StateFolder(place.appending(path: "life")), counter: counter,
                bundleID: "example.notes")
        }
        deinit { try? FileManager.default.removeItem(at: place) }

        func record(in folder: String = "first") throws -> SealedState<LaunchRecord> {
            let folder = try StateFolder(place.appending(path: folder))
            return SealedState(file: folder.file("record"), purpose: "launch", seal: seal, former: .raw)
        }

        func bytes() throws -> Data { try Data(contentsOf: try record().file.url) }
        func put(_ bytes: Data) throws { try bytes.write(to: try record().file.url) }

        /// What is on the disk after a process was killed that had written the record, and not counted it.
        func aborted(_ value: LaunchRecord) throws -> Data {
            counter.isStuck.withLock { $0 = true }
            defer { counter.isStuck.withLock { $0 = false } }
            #expect(try !record().write { _ in value }.isCounted)
            return try bytes()
        }
    }

    private static let (lax, strict) = (LaunchRecord(noticeSeen: true), LaunchRecord(noticeSeen: false, hadPIN: true))

    private func isOlder(_ home: Home) throws -> Bool {
        if case .doubtful(.older) = try home.record().read() { true } else { false }
    }

    private func value(_ home: Home) throws -> LaunchRecord? {
        if case .value(let value) = try home.record().read() { value } else { nil }
    }

    @Test func `what a killed process has written counts, and nothing that was there before`() throws {
        let home = try Home()
        try home.record().write(Self.lax)
        let before = try home.bytes()
        _ = try home.aborted(Self.strict)
        #expect(try value(home) == Self.strict)
        try home.put(before)
        #expect(try isOlder(home), "who has read the new one has counted it")
    }

    @Test func `a record that was not counted counts no more once another one was written`() throws {
        let home = try Home()
        try home.record().write(Self.strict)
        let before = try home.bytes()
        let stock = try (0..<4).map { _ in
            defer { try? home.put(before) }
            return try home.aborted(Self.lax)
        }
        try home.record().write(Self.strict)
        for bytes in stock {
            try home.put(bytes)
            #expect(try isOlder(home))
        }
    }

    @Test func `no chain of records that were not counted leads ahead of the counter`() throws {
        let home = try Home()
        try home.record().write(Self.strict)
        let before = try home.bytes()
        // Each is written after the one that was not counted.
        let stock = try (0..<8).map { _ in try home.aborted(Self.lax) }
        try home.put(before)
        for number in 0..<8 {
            try home.record().write(Self.strict)
            let written = try home.bytes()
            for bytes in stock {
                try home.put(bytes)
                #expect(try isOlder(home), "after \(number)")
            }
            try home.put(written)
            #expect(try value(home) == Self.strict)
        }
    }

    @Test func `a stock that was collected while each record was read counts no more either`() throws {
        let home = try Home()
        try home.record().write(Self.strict)
        let stock = try (0..<6).map { _ in
            let bytes = try home.aborted(Self.lax)
            #expect(try value(home) == Self.lax)
            return bytes
        }
        try home.record().write(Self.strict)
        for bytes in stock {
            try home.put(bytes)
            #expect(try isOlder(home))
        }
    }

    @Test func `of processes that write at the same time one alone has written, whatever became of their lock`() throws
    {
        let home = try Home()
        try home.record().write(Self.lax)
        let other = try home.record(in: "second")
        try home.bytes().write(to: other.file.url)
        let isOtherCounted = Locked(false)
        let (_, isCounted) = try home.record().write { _ in
            // The other home's process goes on while this one is stopped.
            isOtherCounted.withLock { $0 = (try? other.write { _ in Self.strict }.isCounted) ?? false }
            return Self.strict
        }
        #expect(isOtherCounted.withLock { $0 } && !isCounted)
    }

    @Test func `a record that was written while the counter did not answer counts when it does`() throws {
        let home = try Home()
        try home.record().write(Self.lax)
        let before = try home.bytes()
        home.counter.isSilent.withLock { $0 = true }
        _ = try home.aborted(Self.strict)
        home.counter.isSilent.withLock { $0 = false }
        #expect(try value(home) == Self.strict)
        try home.put(before)
        #expect(try isOlder(home))
    }

    @Test func `a kill while the first record is begun does not make the one that is there a removed one`() throws {
        let home = try Home()
        let record = try home.record()
        try record.write(Self.lax)
        // The numbers are lost, and what would begin to count anew is killed.
        try FileManager.default.removeItem(at: home.place.appending(path: "counters"))
        _ = try FileStateCounter(directory: home.place.appending(path: "counters"))
        let begun = StateNumber(before: 2)
        #expect(try home.counter.raise(record.counterName, from: 0, to: begun.counted))
        guard case .doubtful(.uncounted) = try record.read() else {
            Issue.record("it counts as something else")
            return
        }
        // What was begun goes on, and what was removed stays so.
        try record.write(Self.strict)
        let bytes = try home.bytes()
        try record.remove()
        try home.put(bytes)
        guard case .doubtful(.removed) = try record.read() else {
            Issue.record("it came back")
            return
        }
    }

    @Test func `what a version before has counted goes on`() throws {
        let home = try Home()
        let record = try home.record()
        try record.write(Self.lax)
        let name = try record.counterName
        let counted = try home.counter.value(of: name)
        #expect(StateNumber(counted).state == 2 && StateNumber(counted).mark != 0)
        #expect(StateNumber(7) == StateNumber(7) && StateNumber(7).isAbsent && StateNumber(7).isUnmarked)
        #expect(StateNumber(8).generation == 4 && StateNumber(8).counted == 8)
        #expect(StateNumber(of: 4).counted > StateNumber(8).counted, "it rises")
    }
}

import CordonTestSupport
import Foundation
import Testing

@testable import CordonVault

/// Every call to the disk is made to fail in turn, until a run meets no failure (R5); power is cut at every write (R8).
struct FaultTests {
    private let sealer = Sealer()

    /// A life of a file: each state is what a commit made durable.
    private static let states: [[UInt8]] = {
        var states: [[UInt8]] = [[]]
        states.append([UInt8](repeating: 1, count: 3 * 4096 + 9))
        var next = states[1]
        next.replaceSubrange(5000..<9000, with: [UInt8](repeating: 2, count: 4000))
        states.append(next)
        states.append(Array(next.prefix(4100)))
        states.append(
            Array(next.prefix(4100)) + [UInt8](repeating: 0, count: 4096) + [UInt8](repeating: 3, count: 8192))
        states.append(Array(next.prefix(10)))
        return states
    }()

    /// Leads a file from state to state, telling of each sync that returned.
    private func live(_ file: SealedFile, _ reached: (Int) -> Void) throws {
        let states = Self.states
        try file.write(states[1], at: 0)
        try file.sync()
        reached(1)
        try file.write(Array(states[2][5000..<9000]), at: 5000)
        try file.sync()
        reached(2)
        try file.truncate(to: 4100)
        try file.sync()
        reached(3)
        try file.write([UInt8](repeating: 3, count: 8192), at: 8196)
        try file.sync()
        reached(4)
        try file.truncate(to: 10)
        try file.close()
        reached(5)
    }

    @Test(arguments: [false, true], [false, true])
    func `after a failure at any call the file opens at a state between the last sync and the last write`(
        persistently: Bool, tears: Bool
    ) throws {
        let device = MemoryDevice()
        _ = try sealer.create(on: device)
        let start = device.bytes
        var call = 0
        while true {
            call += 1
            let disk = MemoryDevice(start)
            let file = try sealer.open(disk, writing: true)
            disk.calls = 0
            disk.failingCall = call
            disk.persistently = persistently
            disk.tears = tears
            var durable = 0
            let finished = (try? live(file) { durable = $0 }) != nil
            disk.failingCall = nil
            // What failed stays failed: a handle never goes on as if a write had worked.
            if !finished { #expect(throws: VaultError(.closed, "")) { try file.write([1], at: 0) } }
            let read = try sealer.open(MemoryDevice(disk.bytes)).all()
            let allowed = Self.states[durable...min(durable + 1, 5)]
            #expect(allowed.contains(read), "call \(call), durable \(durable)")
            // What a failure left behind can be written again.
            let again = try sealer.open(MemoryDevice(disk.bytes), writing: true)
            try again.write([9], at: 0)
            try again.close()
            if disk.failures == 0 { break }
            #expect(!finished)
        }
        #expect(call > 20)
    }

    @Test(arguments: [false, true])
    func `what was synced is there after a sync failed, another writer began and the power was lost`(
        isGivenUp: Bool
    ) throws {
        let before = [UInt8](repeating: 1, count: 3 * 4096)
        let after = before + before
        let start = try sealer.image(before)
        var (call, syncs) = (0, 0)
        while true {
            call += 1
            let disk = MemoryDevice(start)
            let file = try sealer.open(disk, writing: true)
            (disk.calls, disk.failingCall) = (0, call)
            let isSynced = (try? file.write(after, at: 0)) != nil && (try? file.sync()) != nil
            try? file.close()
            disk.failingCall = nil
            // In memory is what was written. The next writer's mark is put on the disk, and no more.
            let next = try sealer.open(disk, writing: true)
            if isGivenUp { Self.giveUpRecords(in: disk, from: start) }
            try next.write([9], at: 4096)
            try next.write([9], at: 0)
            let read = try sealer.open(MemoryDevice(Self.durable(disk.log, onto: start))).all()
            #expect(read == after || read == before && !isSynced, "call \(call)")
            if disk.failures == 0 { break }
            syncs += disk.log.count { if case .lost = $0 { true } else { false } }
        }
        #expect(syncs == 6)
    }

    @Test(arguments: [false, true])
    func
        `what was synced is there after a sync of a shorter file failed, another writer but closed and the power was lost`(
            isGivenUp: Bool
        ) throws
    {
        let before = [UInt8](repeating: 1, count: 30 * 4096)
        let after = Array(before.prefix(4096))
        let start = try sealer.image(before)
        var (call, isMet, cuts) = (0, true, 0)
        while isMet {
            call += 1
            let disk = MemoryDevice(start)
            let file = try sealer.open(disk, writing: true)
            (disk.calls, disk.failingCall) = (0, call)
            let isSynced = (try? file.truncate(to: 4096)) != nil && (try? file.sync()) != nil
            try? file.close()
            (disk.failingCall, isMet) = (nil, disk.failures > 0)
            let events = disk.log.count
            let next = try sealer.open(disk, writing: true)
            if isGivenUp { Self.giveUpRecords(in: disk, from: start) }
            try next.close()
            for end in events...disk.log.count {
                let read = try sealer.open(MemoryDevice(Self.durable(Array(disk.log[..<end]), onto: start))).all()
                #expect(read == after || read == before && !isSynced, "call \(call), event \(end)")
            }
            cuts += disk.log[events...].count { if case .truncate = $0 { true } else { false } }
        }
        #expect(cuts > 0, "the next writer cuts off what the shorter file does not name")
    }

    /// Has the system read the pages of the records from the disk again, as it may after a sync that failed.
    private static func giveUpRecords(in device: MemoryDevice, from start: [UInt8]) {
        let records = Int(Layout.recordOffsets[0])..<Int(Layout.dataStart)
        device.bytes.replaceSubrange(records, with: durable(device.log, onto: start)[records])
    }

    /// The disk after a power cut of which nothing has arrived but lengths, and what a sync returned for.
    private static func durable(_ events: [MemoryDevice.Event], onto start: [UInt8]) -> [UInt8] {
        var image = start
        var loose: [MemoryDevice.Event] = []
        for event in events {
            switch event {
            case .write: loose.append(event)
            case .truncate(let size):
                MemoryDevice.apply(event, to: &image)
                loose.removeAll { if case .write(let offset, _) = $0 { offset >= size } else { false } }
            case .sync:
                for event in loose { MemoryDevice.apply(event, to: &image) }
                loose = []
            case .lost: loose = []
            }
        }
        return image
    }

    /// Failing calls of a read that writes first what was collected: the collected chunk, and the read of another one.
    @Test(arguments: 1...2, [false, true])
    func `whatever call of a read fails, what a writer acknowledges afterwards is there`(call: Int, tears: Bool) throws
    {
        let device = MemoryDevice()
        let file = try sealer.create(on: device)
        var model = [UInt8](repeating: 1, count: 3 * 4096)
        try file.write(model, at: 0)
        try file.sync()
        let synced = model
        try file.write([2], at: 0)
        model[0] = 2
        (device.calls, device.failingCall, device.tears) = (0, call, tears)
        #expect(throws: VaultError.self) { try file.read(10, at: 5000) }
        #expect(device.failures == 1)
        device.failingCall = nil
        guard call > 1 else {
            // The write failed, so the writer stops.
            #expect(throws: VaultError(.closed, "")) { try file.write([3], at: 0) }
            #expect(throws: VaultError(.closed, "")) { try file.sync() }
            #expect(try sealer.open(MemoryDevice(device.bytes)).all() == synced)
            return
        }
        try file.sync()
        for chunk in [1, 2, 0] {
            let bytes = [UInt8](repeating: UInt8(10 + chunk), count: 4096)
            try file.write(bytes, at: Int64(chunk * 4096))
            model.replaceSubrange(chunk * 4096..<(chunk + 1) * 4096, with: bytes)
        }
        try file.sync()
        #expect(try sealer.open(MemoryDevice(device.bytes)).all() == model)
    }

    @Test func `a read that cannot put changed nodes on the disk to make room for others stops the writer`() throws {
        let device = MemoryDevice()
        let file = try sealer.create(on: device)
        try file.truncate(to: 1 << 30)
        // One chunk below each of a hundred nodes; a node covers half a mebibyte.
        for node in 0..<100 { try file.write([7], at: Int64(node) << 19) }
        (device.failingCall, device.persistently) = (device.calls + 1, true)
        #expect(throws: VaultError(.noSpace, "")) {
            for node in 100..<2000 { _ = try file.read(1, at: Int64(node) << 19) }
        }
        device.failingCall = nil
        #expect(throws: VaultError(.closed, "")) { try file.write([8], at: 0) }
        #expect(try sealer.open(MemoryDevice(device.bytes)).size() == 0)
    }

    @Test(.seeded(as: 8))
    func `a file opens after power was lost at any write, whatever of the unsynced writes arrived`() throws {
        let device = MemoryDevice()
        let file = try sealer.create(on: device)
        let start = device.bytes
        device.log.removeAll()
        var commits: [(events: Int, state: Int)] = [(0, 0)]
        try live(file) { commits.append((device.log.count, $0)) }
        let run = DeepRun(plain: 300, deep: 1_000_000)
        var random = SeededGenerator()
        var replayed = 0
        // Every cut in turn, so that a run that ends early has tried all of them alike.
        for round in run {
            let (cut, attempt) = ((round - 1) % (device.log.count + 1), (round - 1) / (device.log.count + 1))
            let durable = commits.last { $0.events <= cut }?.state ?? 0
            do {
                let image = Self.replay(device.log[..<cut], onto: start, attempt, &random)
                let read = try sealer.open(MemoryDevice(image)).all()
                let allowed = Self.states[durable...min(durable + 1, 5)]
                #expect(allowed.contains(read), "cut \(cut), attempt \(attempt)")
                replayed += 1
            }
        }
        #expect(replayed > device.log.count, "every cut was tried")
        run.finish("states of a disk after a power cut")
    }

    /// The disk after a power cut: everything synced, and of the rest some writes, in any order, torn at sectors.
    private static func replay(
        _ events: ArraySlice<MemoryDevice.Event>, onto start: [UInt8], _ attempt: Int, _ random: inout SeededGenerator
    ) -> [UInt8] {
        var image = start
        let lastSync = events.lastIndex { if case .sync = $0 { true } else { false } } ?? events.startIndex
        for event in events[..<lastSync] { MemoryDevice.apply(event, to: &image) }
        var loose: [MemoryDevice.Event] = []
        for event in events[lastSync...] {
            guard case .write(let offset, let bytes) = event else {
                loose.append(event)
                continue
            }
            // Sectors arrive one by one.
            let sector = Bool.random(using: &random) ? 512 : 4096
            for part in stride(from: 0, to: bytes.count, by: sector) {
                loose.append(.write(offset: offset + part, bytes: Array(bytes[part..<min(part + sector, bytes.count)])))
            }
        }
        if attempt > 0 {
            loose.shuffle(using: &random)
            loose = loose.filter { _ in attempt % 3 == 0 || Bool.random(using: &random) }
        }
        for event in loose { MemoryDevice.apply(event, to: &image) }
        return image
    }
}

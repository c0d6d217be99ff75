#if os(Linux)
    import Cordon
    import CordonPolicy
    import CordonTestSupport
    import CordonVault
    import Crypto
    import Foundation
    import Testing

    /// Apps that are killed within a change of a number that a TPM dates, and attackers who keep and put back every file that they see.
    @Suite(.timeLimit(.minutes(10))) struct TPMKillTests {
        private let keys = InMemoryKeyStore()

        /// The app after a start.
        private func counter(_ tpm: PretendTPM) throws -> TPMStateCounter {
            try TPMStateCounter(
                directory: tpm.folder.appending(path: "counters"), keyStore: keys, device: tpm.place.path)
        }

        private func file(_ tpm: PretendTPM) -> URL { tpm.folder.appending(path: "counters/tpm.json") }

        /// Where a change can be killed: at one of its increments, before that is counted or after. What lies between two of them is as after
        /// the one, or before the other.
        struct Kill: Sendable {
            let increment: Int
            let isCounted: Bool

            static let all: [Kill] = (1...3).flatMap { increment in
                [false, true].map { Kill(increment: increment, isCounted: $0) }
            }
        }

        @Test(arguments: [UInt64(1000), 1001], Kill.all)
        func
            `after a kill at any instant, also of what is done about one, the newest file counts, and then no other one`(
                first: UInt64, kill: Kill
            ) throws
        {
            for second in Kill.all {
                let tpm = try PretendTPM(first: first)
                try counter(tpm).raise("a", to: 7)
                var seen = [try Data(contentsOf: file(tpm))]
                tpm.cut(at: kill.increment, isCounted: kill.isCounted)
                let isKilled = (try? counter(tpm).raise("a", to: 8)) == nil
                #expect(isKilled == (kill.increment < 3), "a change counts up twice")
                seen.append(try Data(contentsOf: file(tpm)))
                let number: Int64 = kill.increment == 1 ? 7 : 8
                tpm.cut(at: second.increment, isCounted: second.isCounted)
                _ = try? counter(tpm).value(of: "a")
                seen.append(try Data(contentsOf: file(tpm)))
                tpm.cut(at: nil)
                for _ in 0..<2 { #expect(try counter(tpm).value(of: "a") == number, "\(kill), \(second)") }
                let settled = tpm.value
                #expect(try counter(tpm).value(of: "a") == number)
                #expect(tpm.value == settled, "what is settled is not written")
                seen.append(try Data(contentsOf: file(tpm)))
                try counter(tpm).raise("a", to: 9)
                let newest = try Data(contentsOf: file(tpm))
                for older in seen {
                    try older.write(to: file(tpm))
                    #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter(tpm).value(of: "a") }
                }
                try newest.write(to: file(tpm))
                #expect(try counter(tpm).value(of: "a") == 9)
            }
        }

        @Test func `a file in any wrong form, sealed as only the app could, keeps no number from being noted`() throws {
            let tpm = try PretendTPM()
            try counter(tpm).raise("a", to: 7)
            let key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: try keys.rootKey(), salt: [0x01, 0x80, 0xC0, 0x4D],
                info: Data("cordon-tpm-counter-1file".utf8), outputByteCount: 32)
            let form = Data("cordon-tpm-counter-2".utf8)
            func told() throws -> JSONValue {
                let box = try AES.GCM.SealedBox(combined: Data(contentsOf: file(tpm)))
                return try JSONValue(parsing: AES.GCM.open(box, using: key, authenticating: form))
            }
            let places = Place.all(in: try told())
            #expect(places.count == 3)
            var number: Int64 = 7
            for (index, place) in places.enumerated() {
                for wrong in WrongForm.some(at: index) {
                    let text = place.text(of: try told(), as: wrong)
                    let box = try AES.GCM.seal(Data(text.utf8), using: key, authenticating: form)
                    try #require(box.combined).write(to: file(tpm))
                    _ = try? counter(tpm).value(of: "a")
                    number += 1
                    try counter(tpm).raise("a", to: number)
                    #expect(try counter(tpm).value(of: "a") >= number, "\(place) \(wrong)")
                }
            }
        }

        @Test(arguments: [UInt64(1000), 1001], Kill.all)
        func `a file of a change that was killed does not take the place of a later one`(
            first: UInt64, kill: Kill
        ) throws {
            let tpm = try PretendTPM(first: first)
            try counter(tpm).raise("guesses", to: 2)
            let before = try Data(contentsOf: file(tpm))
            // Another record is written; its file says nothing of the guess that comes.
            tpm.cut(at: kill.increment, isCounted: kill.isCounted)
            _ = try? counter(tpm).raise("launch", to: 2)
            tpm.cut(at: nil)
            let killed = try Data(contentsOf: file(tpm))
            try before.write(to: file(tpm))
            try counter(tpm).raise("guesses", to: 4)
            let newest = try Data(contentsOf: file(tpm))
            for older in [killed, before] {
                try older.write(to: file(tpm))
                #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter(tpm).value(of: "guesses") }
            }
            try newest.write(to: file(tpm))
            #expect(try counter(tpm).value(of: "guesses") == 4)
        }

        @Test(arguments: Kill.all)
        func `a change that begins anew, because the file was removed, brings no older file back`(kill: Kill) throws {
            for first in [UInt64(1000), 1001] {
                let tpm = try PretendTPM(first: first)
                try counter(tpm).raise("a", to: 7)
                tpm.cut(at: kill.increment, isCounted: kill.isCounted)
                _ = try? counter(tpm).raise("a", to: 8)
                tpm.cut(at: nil)
                let killed = try Data(contentsOf: file(tpm))
                try FileManager.default.removeItem(at: file(tpm))
                #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter(tpm).value(of: "a") }
                try counter(tpm).raise("a", to: 1)
                #expect(try counter(tpm).value(of: "a") == 1)
                try killed.write(to: file(tpm))
                #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter(tpm).value(of: "a") }
            }
        }

        @Test
        func `numbers whose counter was removed from the TPM with their file are lost, and not as if there were none`()
            throws
        {
            let first = try PretendTPM()
            #expect(try counter(first).value(of: "a") == 0)
            try counter(first).raise("a", to: 7)
            #expect(try counter(first).value(of: "lost") == 0)
            // The app's keys, a TPM without the counter, and a folder without the file.
            let tpm = try PretendTPM()
            #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter(tpm).value(of: "a") }
            try counter(tpm).raise("b", to: 2)
            for (name, number) in [("a", Int64(0)), ("b", 2), ("lost", 1)] {
                #expect(try counter(tpm).value(of: name) == number, "\(name)")
            }
        }

        @Test func `a change costs two increments, and one that changes nothing none`() throws {
            let tpm = try PretendTPM(first: 1000)
            try counter(tpm).raise("a", to: 1)
            for number in Int64(2)...5 {
                let before = try #require(tpm.value)
                try counter(tpm).raise("a", to: number)
                #expect(tpm.value == before + 2)
                try counter(tpm).raise("a", to: number)
                #expect(tpm.value == before + 2)
            }
        }

        // MARK: Files of earlier software

        /// A file as the version before wrote it: with the value that the counter was to have next.
        private func writeFormer(_ number: Int64, tick: UInt64, _ tpm: PretendTPM) throws {
            let info = Data("cordon-tpm-counter-1".utf8)
            let key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: try keys.rootKey(),
                salt: withUnsafeBytes(of: UInt32(0x0180_C04D).bigEndian) { Data($0) }, info: info + Data("file".utf8),
                outputByteCount: 32)
            let plain = Data(#"{"numbers":{"a":\#(number)},"tick":\#(tick)}"#.utf8)
            let sealed = try AES.GCM.seal(plain, using: key, authenticating: info)
            let bytes = try #require(sealed.combined)
            try bytes.write(to: file(tpm))
        }

        @Test(arguments: [UInt64(1000), 1001], [UInt64(0), 1])
        func `a file of the version before is taken over once, after kills too, and no older one is`(
            value: UInt64, ahead: UInt64
        ) throws {
            for second in Kill.all {
                let password = HKDF<SHA256>.deriveKey(
                    inputKeyMaterial: try keys.rootKey(), salt: [0x01, 0x80, 0xC0, 0x4D],
                    info: Data("cordon-tpm-counter-1password".utf8), outputByteCount: 32)
                let tpm = try PretendTPM(value: value, password: password.withUnsafeBytes { Array($0) })
                _ = try counter(tpm)
                for older in [value - 2, value - 1, value + 2] {
                    try writeFormer(5, tick: older, tpm)
                    #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter(tpm).value(of: "a") }
                }
                #expect(tpm.value == value)
                // What that version may have left: the file in force, and one of a change that was killed.
                let former = try [value, value + 1].map { tick -> Data in
                    try writeFormer(tick == value + ahead ? 7 : 6, tick: tick, tpm)
                    return try Data(contentsOf: file(tpm))
                }
                try former[Int(ahead)].write(to: file(tpm))
                tpm.cut(at: second.increment, isCounted: second.isCounted)
                _ = try? counter(tpm).value(of: "a")
                let between = try Data(contentsOf: file(tpm))
                tpm.cut(at: nil)
                #expect(try counter(tpm).value(of: "a") == 7)
                try counter(tpm).raise("a", to: 9)
                let newest = try Data(contentsOf: file(tpm))
                for older in former + [between] {
                    try older.write(to: file(tpm))
                    #expect(throws: ProtectionError(.stateUnreadable, "")) { try counter(tpm).value(of: "a") }
                }
                try newest.write(to: file(tpm))
                #expect(try counter(tpm).value(of: "a") == 9)
            }
        }
    }
#endif

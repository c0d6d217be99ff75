import CordonIdentity
import CordonPolicy
import CordonProtocol
import Foundation
import Testing

/// A body is parsed once, by the strict parser; what is read from its tree is what Foundation would read from its bytes.
struct JSONTreeDecoderTests {
    private static let time = Date(timeIntervalSince1970: 1_800_000_000)

    private static let checkIn = CheckInRequest(
        appliedSequence: 7, appliedVersion: "v", appliedDigest: nil,
        application: ApplicationFacts(bundleID: "com.example.notes", version: "3.1", sdkVersion: "1.0"),
        device: DeviceDescription(tag: "tag-1", osVersion: "18.2", model: "iPhone15,2"), health: [.rootedDevice],
        refusedEnvelopes: [RefusedEnvelope(account: "oid-a", code: "expired", time: time)], clientTime: time,
        nonce: "n", outcomes: [ConditionReport(check: "c", threshold: nil, observed: "o", action: .block, time: 5)])

    private static let telemetry = TelemetryBatch(events: [
        ReportedEvent(
            .appLaunch, privacy: .requiredService, data: [.usage, .inventory], region: .europeanUnion, time: 1,
            amounts: ["milliseconds": 5], words: ["action": "x"])
    ])

    /// Every tree that differs from this one in one place: a member left out, or a value replaced.
    static func changed(_ value: JSONValue) -> [JSONValue] {
        var changes: [JSONValue] = [.null, true, 7, -1, "x", [], [:]]
        switch value {
        case .object(let members):
            for (name, member) in members {
                var copy = members
                copy[name] = nil
                changes.append(.object(copy))
                for change in changed(member) {
                    copy[name] = change
                    changes.append(.object(copy))
                }
            }
        case .array(let values):
            for index in values.indices {
                var copy = values
                for change in changed(values[index]) {
                    copy[index] = change
                    changes.append(.array(copy))
                }
            }
        default: break
        }
        return changes
    }

    private func compare<Message: Codable & Equatable>(_ message: Message) throws {
        let whole = try JSONValue(parsing: MessageCoding.encode(message))
        #expect(try MessageCoding.decode(Message.self, from: whole) == message)
        var refused = 0
        for tree in Self.changed(whole) {
            let bytes = Data(tree.text().utf8)
            let byTree = try? MessageCoding.decode(Message.self, from: tree)
            #expect(byTree == (try? MessageCoding.decode(Message.self, from: bytes)), "\(tree.text())")
            if byTree == nil { refused += 1 }
        }
        // The control: some of the changes make no message.
        #expect(refused > 10)
    }

    @Test func `a message is read from a tree as from bytes, however it is damaged`() throws {
        try compare(Self.checkIn)
        try compare(Self.telemetry)
        try compare(Acknowledgement(commandID: "c", phase: .started, time: Self.time, receipt: "r"))
        try compare(
            RegistrationRequest(
                application: Self.checkIn.application, device: Self.checkIn.device, source: .appRegistered, nonce: "n"))
    }

    @Test func `what is wrong is named by its place, and never by its value`() throws {
        let tree: JSONValue = ["commandID": "c", "phase": "secret", "time": "2027-01-15T08:00:00Z"]
        let error = #expect(throws: ProtocolError.self) {
            try MessageCoding.decode(Acknowledgement.self, from: tree)
        }
        #expect(error?.reason == "the message cannot be read: `phase` has the wrong form")
        let batch: JSONValue = ["events": [["kind": 7]]]
        let inner = #expect(throws: ProtocolError.self) { try MessageCoding.decode(TelemetryBatch.self, from: batch) }
        #expect(inner?.reason.hasPrefix("the message cannot be read: `events[0].") == true)
        let bare = #expect(throws: ProtocolError.self) {
            try MessageCoding.decode(Acknowledgement.self, from: ["commandID": "c"] as JSONValue)
        }
        #expect(bare?.reason == "the message cannot be read: `phase` is missing")
        let list = #expect(throws: ProtocolError.self) {
            try MessageCoding.decode(Acknowledgement.self, from: [] as JSONValue)
        }
        #expect(list?.reason == "the message cannot be read: it has the wrong form")
        let strange = #expect(throws: ProtocolError.self) {
            try MessageCoding.decodeStrictly(ManagedAccount.self, from: ["surname": "secret"])
        }
        #expect(strange?.reason == "the message cannot be read: `surname` is not known here")
    }

    @Test func `a check-in in its usual form is read without a decoder, and as a decoder reads it`() throws {
        var full = Self.checkIn
        (full.refusedEnvelopes, full.outcomes) = (nil, nil)
        (full.appliedDigest, full.recoveryShareDigest, full.stateGeneration) = ("d", "s", 9)
        (full.application.management, full.application.build, full.device.name) = (.mdm, "1204", "Ward 3")
        var bare = full
        (bare.appliedVersion, bare.appliedDigest, bare.recoveryShareDigest) = (nil, nil, nil)
        (bare.stateGeneration, bare.application.management, bare.device.name) = (nil, nil, nil)
        bare.application.build = nil
        for message in [full, bare] {
            let whole = try JSONValue(parsing: MessageCoding.encode(message))
            #expect(CheckInRequest(usual: whole) == message)
            for tree in Self.changed(whole) {
                guard let usual = CheckInRequest(usual: tree) else { continue }
                #expect(try usual == MessageCoding.decode(CheckInRequest.self, from: tree), "\(tree)")
            }
        }
        #expect(CheckInRequest(usual: try JSONValue(parsing: MessageCoding.encode(Self.checkIn))) == nil)
    }

    @Test func `the answer to a check-in is written without an encoder, and as an encoder writes it`() throws {
        for (envelope, contact) in [(nil, nil), ("e/\"\u{1F600}\n", "c.c"), (nil, "c")] as [(String?, String?)] {
            for time in [Self.time, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 4_102_444_799)] {
                let answer = CheckInResponse(
                    statusCode: .policiesUnchanged, unchanged: envelope == nil, serviceTime: time,
                    nextCheckInSeconds: 28_800, envelope: envelope, contact: contact)
                #expect(
                    String(decoding: answer.bytes, as: UTF8.self)
                        == String(decoding: try MessageCoding.encode(answer), as: UTF8.self))
            }
        }
    }

    @Test func `a number too large for its place is refused, not cut`() throws {
        struct Numbers: Codable, Equatable {
            var small: UInt8?
            var large: UInt64?
            var real: Double?
            var bytes: Data?
            var address: URL?
            var perhaps: [String?]?
        }
        let texts = [
            #"{"small": 256}"#, #"{"small": 255, "large": 18446744073709551615}"#, #"{"large": -1}"#,
            #"{"real": 1e400}"#, #"{"real": 3, "bytes": "AAE="}"#, #"{"bytes": "?"}"#, #"{"small": 1.5}"#,
            #"{"perhaps": ["a", null]}"#, #"{"address": "https://a.example/x"}"#,
        ]
        for text in texts {
            let tree = try? MessageCoding.decode(Numbers.self, from: JSONValue(parsing: Data(text.utf8)))
            let foundation = try? MessageCoding.decode(Numbers.self, from: Data(text.utf8))
            #expect(tree == foundation, "\(text)")
        }
    }
}

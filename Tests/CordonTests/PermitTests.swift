import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// Priority 3: what Cordon offers as a way out takes a permit, and a permit is good for one thing, once, now.
@Suite struct PermitTests {
    private actor Paper: Printer {
        private(set) var sheets: [Data] = []
        func print(_ document: Data, title: String) { sheets.append(document) }
    }

    private actor Board: Clipboard {
        private(set) var item: ClipboardItem?
        func write(_ item: ClipboardItem) { self.item = item }
        func read() -> ClipboardItem? { item }
    }

    @Test func `a refused question gives a denial with its reasons instead of a permit`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(true)])
        do {
            _ = try protection.permit(for: Question(.print, owner: .managed(device.account.id)))
            Issue.record("a permit was issued")
        } catch {
            #expect(error.denial?.verdict == .block)
            #expect(error.denial?.reasons.map(\.setting) == ["printBlocked"])
            #expect(error.denial?.reasons.first?.policy?.id == "T_1")
        }
    }

    @Test func `an allowed action without permits is no denial, and the error says what to ask in its place`()
        async throws
    {
        let protection = try await Device().enrolled(["printBlocked": .bool(true)])
        do {
            _ = try protection.permit(for: Question(.indexSpotlight, owner: .personal))
            Issue.record("a permit was issued")
        } catch {
            #expect(error.code == .noPermit && error.denial == nil)
            #expect(error.hint.contains("decision(for:)"))
        }
    }

    @Test func `an allowed print reaches the printer once`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        let paper = Paper()
        let permit = try protection.permit(for: Question(.print, owner: .managed(device.account.id)))
        try await protection.outlets.print(
            Data("x".utf8), title: "t", of: .managed(device.account.id), on: paper, permit: permit)
        #expect(await paper.sheets.count == 1)
    }

    @Test func `a permit for personal data does not let an organisation's data out`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(true)])
        let paper = Paper()
        let permit = try protection.permit(for: Question(.print, owner: .personal))
        do {
            try await protection.outlets.print(
                Data("x".utf8), title: "t", of: .managed(device.account.id), on: paper, permit: permit)
            Issue.record("it was printed")
        } catch { #expect(error.code == .noPermit) }
        #expect(await paper.sheets.isEmpty)
    }

    @Test func `a permit for one action is none for another`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        let permit = try protection.permit(for: Question(.print, owner: .managed(device.account.id)))
        do {
            try await protection.outlets.copy("x", of: .managed(device.account.id), to: Board(), permit: permit)
            Issue.record("it was copied")
        } catch { #expect(error.code == .noPermit) }
    }

    @Test(
        arguments: [(3, nil, 4), (4, .permitOutdated, 4), (0, .outletFailed, 1)] as [(Int, ProtectionError.Code?, Int)])
    func `a way out is tried four times while the rules change, and not again after another failure`(
        changes: Int, failure: ProtectionError.Code?, attempts: Int
    ) async {
        var made = 0
        var code: ProtectionError.Code?
        do throws(ProtectionError) {
            try await EgressOutlets.withFreshPermit { () async throws(ProtectionError) in
                made += 1
                if made <= changes { throw ProtectionError(.permitOutdated, "") }
                if let failure { throw ProtectionError(failure, "") }
            }
        } catch { code = error.code }
        #expect(made == attempts && code == failure)
    }

    @Test func `a permit lapses when the rules change`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        let permit = try protection.permit(for: Question(.print, owner: .managed(device.account.id)))
        await protection.checkIn(device.account.id)
        do {
            try await protection.outlets.print(
                Data(), title: "t", of: .managed(device.account.id), on: Paper(), permit: permit)
            Issue.record("it was printed")
        } catch { #expect(error.code == .permitOutdated) }
    }

    @Test func `a permit lapses when the gate is closed that it was given behind, also where it is open again`()
        async throws
    {
        let house = try await Gatehouse()
        let protection = try await house.opened(["printBlocked": .bool(false)])
        await house.goOffline()
        let owner = Identity.managed(house.account)
        for comesBack in [false, true] {
            let permit = try protection.permit(for: Question(.print, owner: .managed(house.account)))
            protection.gate.leftFront()
            if comesBack { #expect(await protection.resume(house.account).isOpen) }
            do {
                try await protection.outlets.print(Data(), title: "t", of: owner, on: Paper(), permit: permit)
                Issue.record("it was printed")
            } catch { #expect(error.code == .permitOutdated) }
            #expect(await protection.resume(house.account).isOpen)
        }
    }

    @Test(arguments: [false, true])
    func `a permit is none under another registration, whose rules are numbered like the former one's`(
        isMadeAnewByCommand: Bool
    ) async throws {
        let device = try Device()
        await device.service.set { $0.change = { $0.sequence = 1 } }
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        let account = device.account.id
        let permit = try protection.permit(for: Question(.print, owner: .managed(account)))
        try await device.publish(["printBlocked": .bool(true)])
        if isMadeAnewByCommand {
            let command = Command(
                id: "c1", kind: .reRegister, account: account, reason: .device, issuedAt: 0, notAfter: 9_000_000_000)
            #expect(await protection.registrations.obey([command]) == .newPolicies)
        } else {
            try await protection.wipe(account)
            #expect(await protection.enroll(device.account) == .newPolicies)
        }
        #expect(!device.mayPrint(protection))
        do {
            try await protection.outlets.print(
                Data(), title: "t", of: .managed(account), on: Paper(), permit: permit)
            Issue.record("it was printed")
        } catch { #expect(error.code == .permitOutdated) }
    }

    @Test func `text for managed apps only is sealed on the clipboard and opens in the same account alone`()
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled([
            "allowedOutboundClipboardSharingLevel": .string("managedApps"),
            "allowedOutboundDataTransferDestinations": .string("managedApps"),
        ])
        let (board, owner) = (Board(), Identity.managed(device.account.id))
        try await copy("secret figure", of: owner, with: protection, to: board)
        let item = try #require(await board.item)
        #expect(item.text == nil)
        #expect(item.sealed?.range(of: Data("secret figure".utf8)) == nil)
        #expect(try await protection.outlets.paste(from: board, for: owner) == "secret figure")
        let refusal = await #expect(throws: ProtectionError(denied: PolicyDecision(reasons: []))) {
            try await protection.outlets.paste(from: board, for: .personal)
        }
        let denied = try #require(refusal)
        #expect(denied.denial?.reasons.contains { $0.setting == "allowedOutboundClipboardSharingLevel" } == true)
    }

    private func copy(
        _ text: String, of owner: Identity, with protection: AppProtection, to board: Board
    ) async throws {
        let permit = try protection.outlets.copyPermit(for: text, of: owner)
        try await protection.outlets.copy(text, of: owner, to: board, permit: permit)
    }

    @Test func `text that may go anywhere is plain on the clipboard`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([:])
        let (board, owner) = (Board(), Identity.managed(device.account.id))
        try await copy("lunch at noon", of: owner, with: protection, to: board)
        #expect(await board.item?.text == "lunch at noon")
    }
}

/// One call that asks, uses the permit and throws one error.
@Suite struct OneCallTests {
    private actor Paper: Printer {
        private(set) var sheets = 0
        let fails: Bool
        init(fails: Bool = false) { self.fails = fails }
        func print(_ document: Data, title: String) throws {
            if fails { throw ProtectionError(.nothingThere, "") }
            sheets += 1
        }
    }

    private actor Place: SavePlace {
        private(set) var names: [String] = []
        let failure: (any Error)?
        init(failure: (any Error)? = nil) { self.failure = failure }
        func save(_ copy: Data, named name: String) throws {
            if let failure { throw failure }
            names.append(name)
        }
    }

    @Test func `an allowed print reaches the printer by one call`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        let paper = Paper()
        let decision = try await protection.outlets.print(
            Data("x".utf8), title: "t", of: .managed(device.account.id), on: paper)
        #expect(decision.verdict == .allow)
        #expect(await paper.sheets == 1)
    }

    @Test func `a refused print throws the one error, with the denial in it`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(true)])
        let paper = Paper()
        do {
            try await protection.outlets.print(
                Data("x".utf8), title: "t", of: .managed(device.account.id), on: paper)
            Issue.record("it was printed")
        } catch {
            #expect(error.code == .denied)
            #expect(error.denial?.reasons.map(\.setting) == ["printBlocked"])
            #expect(error.reason == error.denial?.reasons.first?.message)
        }
        #expect(await paper.sheets == 0)
    }

    @Test(arguments: [
        (ProtectionError(.gateClosed, "") as any Error, ProtectionError.Code.gateClosed),
        (CancellationError(), .outletFailed),
    ])
    func `a place that failed for Cordon's own reason says which`(failure: any Error, code: ProtectionError.Code)
        async throws
    {
        let device = try Device()
        let protection = try await device.enrolled([:])
        let refusal = await #expect(throws: ProtectionError.self) {
            try await protection.outlets.save(
                Data("x".utf8), named: "a", of: .managed(device.account.id), to: Place(failure: failure), at: .other)
        }
        #expect(refusal?.code == code)
    }

    @Test func `a printer that fails is the same error of another kind`() async throws {
        let device = try Device()
        let protection = try await device.enrolled(["printBlocked": .bool(false)])
        do {
            try await protection.outlets.print(
                Data("x".utf8), title: "t", of: .managed(device.account.id), on: Paper(fails: true))
            Issue.record("it was printed")
        } catch {
            #expect(error.code == .outletFailed)
            #expect(error.denial == nil)
        }
    }

    @Test func `saving asks about the place that is named`() async throws {
        let device = try Device()
        let protection = try await device.enrolled([
            "saveAsBlocked": .bool(true), "allowedDataStorageLocations": .array([.string("oneDriveForBusiness")]),
            "allowedOutboundDataTransferDestinations": .string("managedApps"),
        ])
        let (owner, place) = (Identity.managed(device.account.id), Place())
        try await protection.outlets.save(
            Data("x".utf8), named: "a", of: owner, to: place, at: .oneDriveForBusiness, account: device.account.id)
        do {
            try await protection.outlets.save(
                Data("x".utf8), named: "b", of: owner, to: place, at: .cameraRoll)
            Issue.record("it was saved")
        } catch { #expect(error.code == .denied) }
        #expect(await place.names == ["a"])
    }
}

import CordonBase
import CordonIdentity
import CordonPolicy
import CordonProtocol
import CordonTestSupport
import CordonVault
import Foundation
import Testing

@testable import Cordon

/// A device whose service keeps shares, and an account whose key hangs on one.
final class GuardStand: Sendable {
    /// What a kill at a step leaves: all of the disk, and what the service holds.
    struct Copy: Sendable {
        let step: String
        let folder: URL
        let share: RecoveryShare?
    }

    static let text = Data("quarterly figures".utf8)
    /// Rules under which many starts without a network do not close the gate.
    static let patience: [String: JSONValue] = ["periodOfflineBeforeAccessCheck": .string("P60D")]

    let house: Gatehouse
    private let copies = Locked<[Copy]>([])
    private let place: URL

    init() async throws {
        house = try await Gatehouse(isLasting: true)
        place = try TemporaryFolder.make()
        await house.device.service.set { $0.keepsShares = true }
    }

    deinit { TemporaryFolder.remove(place) }

    var account: AccountID { house.account }
    var service: ScriptedService { house.device.service }

    /// Enrols the account, makes a PIN at the gate and writes a file.
    func opened(
        _ rules: [String: JSONValue] = [:], _ change: (inout ProtectionConfiguration) -> Void = { _ in }
    ) async throws -> AppProtection {
        let protection = try await house.opened(Self.patience.merging(rules) { $1 }, change)
        try await protection.files.write(Self.text, as: "note", of: account)
        return protection
    }

    /// The same, after whose first right PIN the key is guarded.
    func guarded(
        _ rules: [String: JSONValue] = [:], _ change: (inout ProtectionConfiguration) -> Void = { _ in }
    ) async throws -> AppProtection {
        let protection = try await opened(rules, change)
        guard try await protection.context.vault.isGuarded(account) else {
            throw ProtectionError(.stateUnwritable, "not guarded")
        }
        return protection
    }

    /// Keeps a copy of everything at a step.
    func keepCopy(at step: String) {
        let copy = place.appending(path: UUID().uuidString)
        do {
            try TemporaryFolder.copy(house.device.folder, to: copy)
            copies.withLock { $0.append(Copy(step: step, folder: copy, share: service.share.withLock { $0 })) }
        } catch { Issue.record(error) }
    }

    /// The copies that were kept, first to last.
    var kept: [Copy] { copies.withLock { $0 } }
    func forgetCopies() { copies.withLock { $0 = [] } }

    /// Starts the app on what a kill has left. The copy is another one each time, so that looking at it changes nothing.
    func start(
        on copy: Copy, _ change: (inout ProtectionConfiguration) -> Void = { _ in }
    ) async throws -> AppProtection {
        let folder = place.appending(path: UUID().uuidString)
        try FileManager.default.copyItem(at: copy.folder, to: folder)
        service.share.withLock { $0 = copy.share }
        return try await house.start { configuration in
            configuration.lie(in: folder)
            change(&configuration)
        }
    }

    /// Whether the file is read after the gate was passed.
    func reads(_ protection: AppProtection) async -> Bool {
        guard await protection.launch(account).isOpen else { return false }
        let text = try? await protection.files.read("note", of: account)
        await protection.gate.keys.finishChanges(account)
        return text == Self.text
    }

    /// Where the records of keys lie.
    var keyFolder: URL { house.device.folder.appending(path: "data/vault/keys") }

    /// The names of the records that end so.
    func records(_ suffix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: keyFolder.path).filter { $0.hasSuffix(suffix) }
    }

    /// What the person was told at each question for a sign-in.
    func signInMessages() async -> [String] {
        await house.person.asked.compactMap { if case .signIn(let prompt) = $0 { prompt.message } else { nil } }
    }

    #if os(Linux)
        /// How often this process has a file open, such as a lock that it holds or waits for.
        static func openings(of file: URL) -> Int {
            let folder = "/proc/self/fd"
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == file.path
            }
        }
    #endif

    /// Whether the PIN opens what a kill has left, without a network.
    func opens(_ copy: Copy, withPIN pin: String) async throws -> Bool {
        house.clock.advance(.seconds(3600))
        await house.person.set { $0.pins = [.entered(pin), .cancelled] }
        await house.goOffline()
        let isOpen = await reads(try await start(on: copy))
        await house.goOnline()
        return isOpen
    }

    /// Whether a sign-in opens what a kill has left, for a person who has forgotten the PIN.
    func opensWithSignIn(_ copy: Copy) async throws -> Bool {
        house.clock.advance(.seconds(3600))
        await house.person.set { person in
            person.pins = [.forgotten]
            person.signIns = [.signedIn("oid-a")]
            person.newPINs = [.chosen("8642")]
        }
        return await reads(try await start(on: copy))
    }
}

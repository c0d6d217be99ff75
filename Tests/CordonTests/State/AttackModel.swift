import Cordon
import CordonBase
import CordonPolicy
import CordonProtocol
import Foundation

/// What an attacker can put back, and so what is promised still (docs/threat-model.md).
enum AttackReach: String {
    /// There is none: everything is as the model says.
    case nothing
    /// The app's home, and neither keys nor numbers: everything is promised that is promised at all.
    case home
    /// The home with the numbers of its records: what was wiped does not come back.
    case homeAndNumbers = "home and numbers"
    /// The folder of the key store too: nothing traps or waits, and what lies elsewhere stays.
    case everything

    var isAttacked: Bool { self != .nothing }
    /// Whether guesses, rules and the gate are counted where the attacker does not reach.
    var counts: Bool { self == .nothing || self == .home }
    /// Whether the keys are where the attacker does not reach.
    var keepsKeys: Bool { self != .everything }
    /// The folders of a device that are within reach.
    var folders: [String] { self == .everything ? ["data", "keys"] : ["data"] }
}

/// Who is at the gate, and how they answer.
enum GateVisitor: String, CaseIterable {
    /// Knows the PIN and can sign in.
    case owner
    /// Knows the PIN, and does not sign in.
    case ownerOfPIN
    /// Has forgotten the PIN, and signs in.
    case forgetful
    /// Knows neither, and tries.
    case stranger
    /// Knows PINs that were replaced.
    case insider

    var signsIn: Bool { self == .owner || self == .forgetful }
    var isOwner: Bool { signsIn || self == .ownerOfPIN }
}

/// What the rules of a policy allow, of those that a walk changes.
struct WalkRules {
    let mayPrint: Bool
    let maySync: Bool

    static let actions: [(name: String, action: Action, isAllowed: @Sendable (WalkRules) -> Bool)] = [
        ("print", .print, { $0.mayPrint }), ("sync contacts", .syncContacts, { $0.maySync }),
    ]
}

/// What the model knows of a device.
struct AttackModel {
    /// The guesses that the rules allow.
    let limit: Int
    /// Whether the last of them wipes.
    let wipesAtLimit: Bool
    /// For how long the gate opens without contact.
    let offlineLimit: TimeInterval = 12 * 3600
    /// For how long the rules trust a person who was just there.
    let trust: TimeInterval

    var isOnline = true
    var isEnrolled = false
    /// Every policy that the service had, the first one first.
    var published: [WalkRules] = []
    /// The oldest of these that may decide in a process that starts now.
    var floor = 0
    var pin: String?
    var formerPINs: [String] = []
    /// Whether a sign-in is due before another PIN is made.
    var hadPIN = false
    /// What may be read under a name: what was written since the last wipe.
    var live: [String: Set<String>] = [:]
    /// All that was ever written under a name.
    var ever: [String: Set<String>] = [:]
    /// What was written last under a name.
    var current: [String: String] = [:]
    /// When the person was last there, and when the service was last reached, by the time that the machine has run.
    var lastPresence: TimeInterval?
    var lastContact: TimeInterval?
    /// How long the machine has run.
    var uptime: TimeInterval = 0

    /// Whether the rules open the gate without asking.
    var trustsPerson: Bool { trust > 0 && lastPresence.map { uptime - $0 <= trust + 60 } ?? false }
    /// Whether the gate may open without the service.
    var isInTouch: Bool { lastContact.map { uptime - $0 <= offlineLimit + 60 } ?? false }

    mutating func noteWritten(_ text: String, as name: String) {
        live[name, default: []].insert(text)
        ever[name, default: []].insert(text)
    }

    mutating func notePIN(_ new: String) {
        if let pin { formerPINs.append(pin) }
        pin = new
        hadPIN = true
    }

    mutating func noteWiped() {
        (live, current) = ([:], [:])
        (pin, formerPINs, hadPIN) = (nil, [], false)
        (isEnrolled, lastPresence) = (false, nil)
        floor = published.count
    }

    /// Whether a policy that may be in force allows something.
    func mayAllow(_ isAllowed: (WalkRules) -> Bool, since oldest: Int) -> Bool {
        published.dropFirst(oldest).contains(where: isAllowed)
    }
}

/// What happened at the PIN and in wipes, told by observers.
final class WalkSignals: Sendable {
    struct Counts {
        /// Guesses that were tried since the last right or new PIN, and the most that there ever were.
        var tried = 0
        var most = 0
        var right = 0
        var made = 0
        /// Wipes that came as far as the app's own part.
        var wiped = 0
    }

    private let counts = Locked(Counts())

    var now: Counts { counts.withLock { $0 } }

    func noteWipe() { counts.withLock { $0.wiped += 1 } }

    /// A step of a check, or of making a PIN.
    func note(_ step: String) {
        counts.withLock { counts in
            switch step {
            case "derive":
                counts.tried += 1
                counts.most = max(counts.most, counts.tried)
            case "cleared":
                counts.right += 1
                counts.tried = 0
            case "made":
                counts.made += 1
                counts.tried = 0
            default: break
            }
        }
    }
}

/// Numbers that no copy of a folder reaches.
final class DistantCounter: StateCounter {
    private let numbers = Locked<[String: Int64]>([:])

    var survivesRestore: Bool { true }

    func value(of name: String) -> Int64 { numbers.withLock { $0[name] ?? 0 } }

    func raise(_ name: String, to number: Int64) { numbers.withLock { $0[name] = max($0[name] ?? 0, number) } }

    func raise(_ name: String, from former: Int64, to number: Int64) -> Bool {
        numbers.withLock { numbers in
            guard numbers[name] ?? 0 == former, number > former else { return false }
            numbers[name] = number
            return true
        }
    }
}

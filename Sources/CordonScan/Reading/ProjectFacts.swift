/// What one file tells the others: names of handles, other names for types, and functions that ask Cordon.
struct ProjectFacts {
    /// A function or property of the project that asks before it says yes.
    struct Asking {
        var actions: ActionSet
        /// Whether it is asked by calling it (it throws) or by its answer.
        let givesTruth: Bool
        /// Whether it is a function, whose name alone is no answer.
        let isFunction: Bool
    }

    /// Names declared with a handle's type, and those declared otherwise too.
    private(set) var handles: [UInt64: HandleSet] = [:]
    private(set) var otherwise: Set<UInt64> = []
    /// Another name for a type, by its number.
    private(set) var aliases: [UInt64: UInt64] = [:]
    /// Types that the project declares itself, so that the system's of that name is not meant.
    private(set) var ownTypes: Set<UInt64> = []
    private(set) var asking: [UInt64: Asking] = [:]
    private var functions: [UInt64: Int] = [:]
    /// Names that are set to a plain yes somewhere.
    private var granted: Set<UInt64> = []
    private var grantedLabels: Set<UInt64> = []
    /// Other names for types that no file read so far calls one that matters, by the type.
    private var waiting: [UInt64: [UInt64]] = [:]
    /// Handles that some parameter or property of the project takes.
    private(set) var typed: Set<Handle> = []

    mutating func declareTyped(_ handle: Handle) { typed.insert(handle) }

    mutating func declare(_ name: UInt64, _ handle: Handle?) {
        guard let handle else {
            otherwise.insert(name)
            return
        }
        handles[name, default: []].insert(HandleSet(handle))
    }

    mutating func alias(_ name: UInt64, for type: UInt64) {
        guard name != type else { return }
        aliases[name] = aliases[type] ?? type
    }

    /// Notes another name for a type of which a file that is read later may say what it is.
    mutating func expect(_ type: UInt64, for name: UInt64) { waiting[type, default: []].append(name) }

    /// Follows other names for other names, in whatever order their files were read.
    mutating func followAliases() {
        // In an order that is the same in every run, as a name that waits for two types becomes one of them.
        var open = aliases.keys.sorted()
        while let known = open.popLast() {
            for name in waiting.removeValue(forKey: known) ?? [] where aliases[name] == nil {
                alias(name, for: known)
                open.append(name)
            }
        }
    }

    /// Notes a name that is set to yes without a question.
    mutating func declareGranted(_ name: UInt64) { granted.insert(name) }

    /// Notes a label whose argument is a yes, which a property may be set to, and no function.
    mutating func declareGrantedLabel(_ name: UInt64) { grantedLabels.insert(name) }

    mutating func declareType(_ name: UInt64) { ownTypes.insert(name) }

    /// Counts the functions and properties of a name.
    mutating func declareFunction(_ name: UInt64) { functions[name, default: 0] += 1 }

    /// Whether one function, property or type of the project has a name.
    func isUnique(_ name: UInt64) -> Bool { functions[name] == 1 }

    /// Whether the project has a function, property or type of a name.
    func declares(_ name: UInt64) -> Bool { functions[name] != nil }

    /// Takes over which functions ask. Of several with one name it is not known which is called, so that all must, and nothing of the
    /// name may simply be yes.
    mutating func setAsking(_ found: [(name: UInt64, answer: Asking)]) {
        var counts: [UInt64: Int] = [:]
        asking = [:]
        for (name, answer) in found {
            counts[name, default: 0] += 1
            let known = asking[name]
            asking[name] = Asking(
                actions: known?.actions.intersection(answer.actions) ?? answer.actions,
                givesTruth: (known?.givesTruth ?? true) && answer.givesTruth,
                isFunction: (known?.isFunction ?? true) && answer.isFunction)
        }
        asking = asking.filter { name, answer in
            let isGranted = granted.contains(name) || !answer.isFunction && grantedLabels.contains(name)
            return functions[name] == counts[name] && !(answer.givesTruth && isGranted)
        }
    }

    /// The handle that a name means in any file: only where no file means something else by it, or where it cannot be mistaken.
    func handles(of name: UInt64) -> HandleSet {
        guard let known = handles[name] else { return [] }
        return known.isStrict || !otherwise.contains(name) ? known : []
    }
}

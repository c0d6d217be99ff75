/// Which records of a kind are meant.
public enum RecordPart: Sendable, Hashable {
    /// Every one.
    case all
    /// Those whose lookup has a value.
    case found(by: StorageLookup, String)
    /// Those whose ids begin with a text.
    case beginning(with: String)
}

/// Which slices to keep (TL-TH-02).
public struct ThinRequest: Sendable {
    /// Keep only slices of this side, if set.
    public enum Side: String, Sendable, CaseIterable {
        /// Code for devices.
        case device
        /// Code for simulators.
        case simulator
    }

    /// Keep only slices for devices, or only those for simulators.
    public var side: Side?
    /// Keep only these processors, when not empty.
    public var kept: [CPUType]
    /// Drop these processors.
    public var removed: [CPUType]
    /// Keep the fat header when one slice is left (TL-TH-04).
    public var keepsFat: Bool
    /// Drop the libraries of an xcframework that are not wanted, also from its Info.plist.
    public var slims = false
    /// Remove headers, modules and stray archives from the frameworks of a bundle (TL-TH-10).
    public var cleans = false

    /// Makes a request.
    public init(side: Side? = nil, kept: [CPUType] = [], removed: [CPUType] = [], keepsFat: Bool = false) {
        self.side = side
        self.kept = kept
        self.removed = removed
        self.keepsFat = keepsFat
    }

    func wants(_ slice: MachOSlice) -> Bool {
        if removed.contains(slice.cpu) || (!kept.isEmpty && !kept.contains(slice.cpu)) { return false }
        guard let side, let platform = slice.platform else { return true }
        return platform.isSimulator == (side == .simulator)
    }
}

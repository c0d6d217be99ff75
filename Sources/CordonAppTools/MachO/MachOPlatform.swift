/// Where code runs. The processor alone does not tell: device and simulator slices are both arm64 (TL-MO-04).
public struct MachOPlatform: Hashable, Sendable, CustomStringConvertible {
    let number: UInt32

    /// iPhone and iPad.
    public static let iOS = MachOPlatform(number: 2)
    /// The simulator of iPhone and iPad.
    public static let iOSSimulator = MachOPlatform(number: 7)

    /// The name tools print, such as `iOS simulator`.
    public var description: String {
        let names: [UInt32: String] = [
            1: "macOS", 2: "iOS", 3: "tvOS", 4: "watchOS", 6: "Mac Catalyst", 7: "iOS simulator", 8: "tvOS simulator",
            9: "watchOS simulator", 10: "DriverKit", 11: "visionOS", 12: "visionOS simulator",
        ]
        return names[number] ?? "platform \(number)"
    }

    /// Whether this is one of the simulators.
    public var isSimulator: Bool { [7, 8, 9, 12].contains(number) }
}

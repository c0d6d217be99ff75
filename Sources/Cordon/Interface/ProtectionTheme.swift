/// How Cordon's screens look in an app (SDK-ST-18…25, SDK-CL-06, CQ-27).
public struct ProtectionTheme: Sendable, Equatable {
    /// A colour, eight bits a part.
    public struct Color: Sendable, Hashable {
        /// Red, green and blue, 0 to 255.
        public let red, green, blue: UInt8

        /// Makes a colour.
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            (self.red, self.green, self.blue) = (red, green, blue)
        }

        /// Reads `#RRGGBB` or `RRGGBB`; nil for anything else.
        public init?(_ text: String) {
            let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
            guard digits.utf8.count == 6,
                digits.utf8.allSatisfy({
                    UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                        || UInt8(ascii: "A")...UInt8(ascii: "F") ~= $0
                }), let number = Int(digits, radix: 16)
            else { return nil }
            self.init(
                red: UInt8(truncatingIfNeeded: number >> 16), green: UInt8(truncatingIfNeeded: number >> 8),
                blue: UInt8(truncatingIfNeeded: number))
        }
    }

    /// The picture of the screen that covers the app at start, by file name; nil is the app's icon.
    public var splashIcon: String?
    /// How long that screen stays at least.
    public var splashDuration = Duration.milliseconds(1500)
    /// Background of every screen; nil is the system's.
    public var background: Color?
    /// Text; nil is the system's.
    public var foreground: Color?
    /// Buttons and the field that is typed in; nil is the system's.
    public var accent: Color?
    /// Side areas; nil is the system's.
    public var secondaryBackground: Color?
    /// Footnotes; nil is the system's.
    public var secondaryForeground: Color?
    /// Whether colours that are not set follow the system's dark mode; otherwise they are fixed.
    public var supportsDarkMode = true

    /// The system's look.
    public init() {}
}

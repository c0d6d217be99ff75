internal import Foundation

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
            guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let number = Int(digits, radix: 16) else {
                return nil
            }
            self.init(
                red: UInt8(truncatingIfNeeded: number >> 16), green: UInt8(truncatingIfNeeded: number >> 8),
                blue: UInt8(truncatingIfNeeded: number))
        }

        /// Black or white, whichever is read more easily on this colour.
        public var readable: Color {
            let part = { (value: UInt8) in
                let value = Double(value) / 255
                return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            let luminance = 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue)
            // Both have the same contrast at this luminance (WCAG 2, 1.4.3).
            return luminance > 0.179 ? Color(red: 0, green: 0, blue: 0) : Color(red: 255, green: 255, blue: 255)
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

    /// The colour of text: the one that is set, or one that is read on the background that is set; nil is the system's.
    ///
    /// The system's own text turns white in the dark, and would vanish on a background that stays light.
    public var textColor: Color? { foreground ?? background?.readable }
    /// The colour of footnotes, by the same rule.
    public var secondaryTextColor: Color? { secondaryForeground ?? textColor }
}

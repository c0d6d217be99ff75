import Cordon
import Testing

/// How Cordon's screens look in an app.
@Suite struct ProtectionThemeTests {
    @Test func `a colour is read in capitals and in small letters, with its mark and without`() {
        let orange = ProtectionTheme.Color(red: 255, green: 136, blue: 0)
        for text in ["#FF8800", "#ff8800", "Ff8800"] { #expect(ProtectionTheme.Color(text) == orange, "\(text)") }
        for text in ["", "#", "#FF880", "#FF88000", "##FF880", "+F8800", "FF880G", "\u{FF21}\u{FF22}"] {
            #expect(ProtectionTheme.Color(text) == nil, "\(text)")
        }
    }
}

internal import Foundation

/// The languages of what people read; each is in every text of Texts.xcstrings.
package enum TextLanguage: String, CaseIterable, Sendable {
    case en, de

    /// The language of every text of this process; English in programs in which nothing asks for another, and before it is asked for.
    package static var current: TextLanguage { settled.withLock { $0 } ?? .en }

    private static let settled = Locked<TextLanguage?>(nil)

    /// Has people read the language of a tag such as `de-AT` from now on, or English where there are no texts in it. The first call settles
    /// it, so that no screen mixes two.
    ///
    /// - Parameter tag: Nil is the language in which the system shows the app; outside of Apple's systems, that of the environment's locale.
    package static func follow(_ tag: String?) {
        let language = TextLanguage(tag: tag ?? ofApp ?? "") ?? .en
        settled.withLock { $0 = $0 ?? language }
    }

    /// The language of a tag (BCP 47) or a locale such as `de_AT.UTF-8`; nil for one without texts.
    package init?(tag: String) {
        self.init(rawValue: tag.prefix { $0.isASCII && $0.isLetter }.lowercased())
    }

    private static var ofApp: String? {
        #if canImport(Darwin)
            return Bundle.main.preferredLocalizations.first
        #else
            let environment = ProcessInfo.processInfo.environment
            return ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty }
        #endif
    }
}

/// What a lexer found at a place.
struct Token {
    enum Kind: UInt8 {
        case identifier
        case number
        /// A string, or the part of one before an interpolation.
        case string
        /// The part of a string behind an interpolation.
        case stringTail
        case regex
        /// A bracket, an operator or any other mark.
        case mark
        /// The name of a macro that is being defined; the definition's tokens are enclosed by it.
        case define
    }

    let kind: Kind
    /// Whether a line begins with it.
    let startsLine: Bool
    /// Whether it is compiled into debug builds, previews or simulators alone.
    var isDebug: Bool
    let start: UInt32
    let end: UInt32
    /// Tells words and marks apart without their letters: ``Word/hash(_:)-8x0qm``.
    var hash: UInt64
}

/// Words by a number made of their bytes, so that tokens are compared without looking at the text.
enum Word {
    static let seed: UInt64 = 0xCBF2_9CE4_8422_2325
    static let prime: UInt64 = 0x100_0000_01B3

    static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* prime }
    }

    static func hash(_ text: StaticString) -> UInt64 {
        text.withUTF8Buffer { $0.reduce(seed) { ($0 ^ UInt64($1)) &* prime } }
    }

    static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(seed) { ($0 ^ UInt64($1)) &* prime }
    }
}

/// The marks that the readers ask about.
enum Mark {
    static let openParen = Word.hash("(")
    static let closeParen = Word.hash(")")
    static let openBrace = Word.hash("{")
    static let closeBrace = Word.hash("}")
    static let openBracket = Word.hash("[")
    static let closeBracket = Word.hash("]")
    static let less = Word.hash("<")
    static let greater = Word.hash(">")
    static let dot = Word.hash(".")
    static let comma = Word.hash(",")
    static let colon = Word.hash(":")
    static let semicolon = Word.hash(";")
    static let equals = Word.hash("=")
    static let plusEquals = Word.hash("+=")
    static let equal = Word.hash("==")
    static let unequal = Word.hash("!=")
    static let not = Word.hash("!")
    static let question = Word.hash("?")
    static let and = Word.hash("&&")
    static let or = Word.hash("||")
    static let coalesce = Word.hash("??")
    static let arrow = Word.hash("->")
    static let at = Word.hash("@")
    static let sharp = Word.hash("#")
    static let dollar = Word.hash("$")
    static let backslash = Word.hash("\\")
    static let star = Word.hash("*")
    static let ampersand = Word.hash("&")
    static let minus = Word.hash("-")
    static let plus = Word.hash("+")
}

/// A comment that speaks to the scan.
struct ScanComment {
    let start: Int
    let end: Int
    /// Whether nothing but the comment stands on its line, so that it speaks of the code below.
    let standsAlone: Bool
}

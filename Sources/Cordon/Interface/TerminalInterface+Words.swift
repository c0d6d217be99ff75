internal import CordonPolicy

extension TerminalInterface {
    static func text(_ answer: NoticeAnswer) -> String {
        switch answer {
        case .goOn: "go on"
        case .tryAgain: "try again"
        case .cancel: "cancel"
        }
    }

    static func text(_ problem: PINRequirements.Problem) -> String {
        switch problem {
        case .tooShort(let minimum): "It has to have at least \(minimum) characters."
        case .digitsOnly: "Only digits will do."
        case .needsLetterOrSymbol: "It needs a letter or a symbol."
        case .needsDigitLetterAndSymbol: "It needs a digit, a letter and a symbol."
        case .tooSimple: "Runs such as 123 or 111 will not do."
        case .usedBefore: "It was used before."
        }
    }

    static func guesses(_ count: Int) -> String { count == 1 ? "one try" : "\(count) tries" }

    /// A length of time in the largest unit that fits, rounded up.
    static func text(_ duration: Duration) -> String {
        let seconds = max(0, (duration.milliseconds + 999) / 1000)
        for (unit, name) in [(86_400, "day"), (3600, "hour"), (60, "minute")] as [(Int64, String)]
        where seconds >= 2 * unit {
            return "\((seconds + unit - 1) / unit) \(name)s"
        }
        return seconds == 1 ? "one second" : "\(seconds) seconds"
    }
}

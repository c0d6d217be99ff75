internal import CordonBase
internal import CordonPolicy

extension GateScreen {
    static func text(_ problem: PINRequirements.Problem) -> String {
        switch problem {
        case .tooShort(let minimum): Texts.pinTooShort(minimum: minimum)
        case .digitsOnly: Texts.pinDigitsOnly
        case .needsLetterOrSymbol: Texts.pinNeedsLetterOrSymbol
        case .needsDigitLetterAndSymbol: Texts.pinNeedsDigitLetterAndSymbol
        case .tooSimple: Texts.pinTooSimple
        case .usedBefore: Texts.pinUsedBefore
        }
    }

    /// A length of time in the largest unit that fits, rounded up.
    static func text(_ duration: Duration) -> String {
        let seconds = max(0, (duration.milliseconds + 999) / 1000)
        let units: [(Int64, (Int) -> String)] = [
            (86_400, Texts.timeDays), (3600, Texts.timeHours), (60, Texts.timeMinutes),
        ]
        for (unit, text) in units where seconds >= 2 * unit { return text(Int((seconds + unit - 1) / unit)) }
        return Texts.timeSeconds(count: Int(seconds))
    }
}

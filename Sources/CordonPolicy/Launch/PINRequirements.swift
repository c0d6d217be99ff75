/// What a new PIN must be like (SRV-RS-043…049).
public struct PINRequirements: Sendable, Equatable {
    /// Why a PIN is refused.
    public enum Problem: Sendable, Hashable {
        /// Fewer characters than required.
        case tooShort(minimum: Int)
        /// Something other than digits where only digits are taken.
        case digitsOnly
        /// No letter and no symbol.
        case needsLetterOrSymbol
        /// Not digit, letter and symbol together, as a simple PIN is refused.
        case needsDigitLetterAndSymbol
        /// Three characters in a row that rise, fall or repeat, such as 123 or 111.
        case tooSimple
        /// One of the last PINs.
        case usedBefore
    }

    private let access: AccessRequirements

    /// The requirements of a policy.
    public init(_ access: AccessRequirements) {
        self.access = access
    }

    /// How many former PINs are to be remembered.
    public var remembered: Int { access.previousPinBlockCount }

    /// Whether Touch ID or Face ID may stand in for the PIN now (SRV-RS-050, 051, 080).
    ///
    /// - Parameters:
    ///   - face: Whether it is a face rather than a finger.
    ///   - sincePIN: Time since the PIN itself was last entered; nil when not known, which denies.
    public func biometricsAllowed(face: Bool, sincePIN: Duration?) -> Bool {
        guard !(face ? access.faceIdBlocked : access.fingerprintBlocked), let sincePIN else { return false }
        let limit = access.pinRequiredInsteadOfBiometricTimeout
        return sincePIN >= .zero && (limit == .zero || sincePIN <= limit)
    }

    /// Everything that is wrong with a PIN; empty when it will do.
    ///
    /// - Parameters:
    ///   - pin: What the person typed.
    ///   - wasUsed: Whether the PIN is one of the last ``remembered``; the caller keeps the hashes.
    public func problems(with pin: String, wasUsed: Bool = false) -> [Problem] {
        var problems: [Problem] = []
        let characters = Array(pin.unicodeScalars)
        if characters.count < access.minimumPinLength { problems.append(.tooShort(minimum: access.minimumPinLength)) }
        let digits = characters.count { $0.properties.numericType == .decimal }
        let letters = characters.count { $0.properties.isAlphabetic }
        switch access.pinCharacterSet {
        case .numeric:
            if digits != characters.count || !pin.utf8.allSatisfy({ $0 < 0x80 }) { problems.append(.digitsOnly) }
        case .alphanumericAndSymbol:
            let symbols = characters.count - digits - letters
            if access.simplePinBlocked {
                if digits == 0 || letters == 0 || symbols == 0 { problems.append(.needsDigitLetterAndSymbol) }
            } else if letters + symbols == 0 {
                problems.append(.needsLetterOrSymbol)
            }
        }
        if access.simplePinBlocked && Self.isSimple(characters) { problems.append(.tooSimple) }
        if wasUsed && access.previousPinBlockCount > 0 { problems.append(.usedBefore) }
        return problems
    }

    private static func isSimple(_ characters: [Unicode.Scalar]) -> Bool {
        guard characters.count >= 3 else { return false }
        return (2..<characters.count).contains { index in
            let first = Int(characters[index - 1].value) - Int(characters[index - 2].value)
            let second = Int(characters[index].value) - Int(characters[index - 1].value)
            return first == second && (-1...1).contains(first)
        }
    }
}

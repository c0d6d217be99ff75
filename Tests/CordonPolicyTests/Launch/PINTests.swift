import CordonPolicy
import Testing

@Suite struct PINTests {
    private func problems(_ pin: String, _ change: (inout AccessRequirements) -> Void) -> [PINRequirements.Problem] {
        var access = AccessRequirements()
        change(&access)
        return PINRequirements(access).problems(with: pin)
    }

    @Test func `runs of three are simple, pairs are not`() {
        for pin in ["1235", "1112", "9876", "0123"] {
            #expect(problems(pin) { $0.simplePinBlocked = true } == [.tooSimple], "\(pin)")
        }
        for pin in ["1122", "1357", "8020"] {
            #expect(problems(pin) { $0.simplePinBlocked = true }.isEmpty, "\(pin)")
        }
        #expect(problems("1111") { _ in }.isEmpty)
    }

    @Test func `length and characters are checked`() {
        #expect(problems("123") { _ in } == [.tooShort(minimum: 4)])
        #expect(problems("12a4") { _ in } == [.digitsOnly])
        #expect(problems("١٢٣٤") { _ in } == [.digitsOnly])
        #expect(problems("2468") { $0.pinCharacterSet = .alphanumericAndSymbol } == [.needsLetterOrSymbol])
        #expect(problems("246x") { $0.pinCharacterSet = .alphanumericAndSymbol }.isEmpty)
        let strict: (inout AccessRequirements) -> Void = {
            $0.pinCharacterSet = .alphanumericAndSymbol
            $0.simplePinBlocked = true
        }
        #expect(problems("24xz", strict) == [.needsDigitLetterAndSymbol])
        #expect(problems("24x!", strict).isEmpty)
        #expect(problems("", strict).contains(.tooShort(minimum: 4)))
    }

    @Test func `a former PIN is refused only while it is remembered`() {
        var access = AccessRequirements()
        #expect(PINRequirements(access).problems(with: "2468", wasUsed: true).isEmpty)
        access.previousPinBlockCount = 3
        #expect(PINRequirements(access).problems(with: "2468", wasUsed: true) == [.usedBefore])
    }

    @Test func `biometry stands in until its time is over`() {
        var access = AccessRequirements()
        access.pinRequiredInsteadOfBiometricTimeout = .seconds(60)
        access.faceIdBlocked = true
        let requirements = PINRequirements(access)
        #expect(requirements.biometricsAllowed(face: false, sincePIN: .seconds(60)))
        #expect(!requirements.biometricsAllowed(face: false, sincePIN: .seconds(61)))
        #expect(!requirements.biometricsAllowed(face: false, sincePIN: nil))
        #expect(!requirements.biometricsAllowed(face: false, sincePIN: .seconds(-1)))
        #expect(!requirements.biometricsAllowed(face: true, sincePIN: .zero))
    }
}

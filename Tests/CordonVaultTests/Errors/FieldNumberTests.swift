import CordonVault
import Testing

/// SDK-FP-16, SDK-DP-07: the documented numbers of failures.
@Suite struct FieldNumberTests {
    @Test func `every failure has a documented number of each kind`() {
        for code in VaultError.Code.allCases {
            #expect((101...107).contains(code.fileNumber), "\(code)")
            #expect((101...105).contains(code.dataNumber), "\(code)")
        }
    }

    @Test func `a failure has the number of what it is`() {
        let files: [(VaultError.Code, Int)] = [
            (.invalidArgument, 101), (.sealingFailed, 102), (.damaged, 103), (.noSuchFile, 104), (.isDirectory, 105),
            (.unknownAccount, 106), (.inputOutput, 107),
        ]
        for (code, number) in files { #expect(code.fileNumber == number) }
        let data: [(VaultError.Code, Int)] = [
            (.invalidArgument, 101), (.sealingFailed, 102), (.damaged, 103), (.notProtected, 104), (.empty, 105),
        ]
        for (code, number) in data { #expect(code.dataNumber == number) }
    }
}

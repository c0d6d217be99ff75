import CordonProtocol
import Testing

@Suite struct EnrollmentStatusTests {
    @Test func `there are 34 codes, 100 to 104 and 200 to 228, and only the first five succeed`() {
        #expect(EnrollmentStatus.allCases.map(\.rawValue) == Array(100...104) + Array(200...228))
        #expect(EnrollmentStatus.allCases.filter(\.didSucceed).map(\.rawValue) == Array(100...104))
    }

    @Test func `the app must remove the account for 209, 210 and 211 only`() {
        #expect(EnrollmentStatus.allCases.filter(\.mustRemoveAccount).map(\.rawValue) == [209, 210, 211])
    }

    @Test func `every code explains itself in its own sentence`() {
        #expect(Set(EnrollmentStatus.allCases.map(\.explanation)).count == 34)
    }
}

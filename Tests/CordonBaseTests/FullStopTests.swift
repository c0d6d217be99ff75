import CordonBase
import Testing

@Suite struct FullStopTests {
    @Test(arguments: [("It is gone.", "It is gone"), ("it is gone", "it is gone"), ("", "")])
    func `a reason is put into a sentence without a full stop of its own`(reason: String, inside: String) {
        #expect(reason.withoutFullStop == inside)
    }
}
